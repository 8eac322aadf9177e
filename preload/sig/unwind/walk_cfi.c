/* SPDX-License-Identifier: MIT
 *
 * The hybrid walker (JP_STACK=auto).  It goes from frame to frame by
 * call-frame information where the code has it, and by the frame pointer where
 * it has none, as code of JIT compilers.  JP_STACK=cfi does without frame
 * pointers: code without call-frame information ends the walk.
 * Runs in: handler, any thread. */
#include "walk_cfi.h"

#include <string.h>

#include "cfi/cfi_cache.h"
#include "cfi/cfi_run.h"
#include "sig/arch/arch.h"
#include "sig/state/buffer.h"
#include "sig/state/config.h"
#include "sig/state/thread.h"
#include "walk_first.h"
#include "walk_frame.h"
#include "walk_quick.h"
#include "walk_rare.h"
#include "walk_step.h"

#define GOING JP_WALK_GOING
#define AGAIN JP_WALK_AGAIN

/* Makes a rule for a return address that is a function's first byte, which no
 * call can have pushed: the root of a stack that the program made (as by
 * glibc's makecontext), or the code to which a signal's handler returns. */
static void find_end_sig(const struct jp_walk *walk,
                         struct jp_walk_frame *frame, struct jp_cfi_rule *rule)
{
    struct jp_cfi_rule first;
    if (jp_cfi_lookup_sig(frame->pc, walk->buffer->maps_epoch,
                          walk->buffer->rows, &first) != 0 ||
        first.kind == JP_CFI_NONE || first.kind == JP_CFI_BAD)
        return;
    frame->exact = 1;
    rule->kind = first.kind == JP_CFI_SIGNAL ? JP_CFI_SIGNAL : JP_CFI_ROOT;
    rule->flags = JP_CFI_BY_HAND;
}

/* Makes and caches a rule for a trampoline in memory without a file, whose
 * caller is at sp.  Only if call-frame information led to it: code that a
 * frame pointer led to, as V8's and the JVM's, has a frame.  The code is
 * copied, as its memory may be unmapped just now. */
static void find_bare_sig(const struct jp_walk *walk,
                          const struct jp_walk_frame *frame, uint64_t pc,
                          struct jp_cfi_rule *rule)
{
    uint8_t code[JP_ARCH_BARE_BYTES];
    if (frame->lost || !walk->process->is_anonymous_sig(frame->pc) ||
        !jp_walk_copy_sig(walk, frame->pc, code, sizeof(code)))
        return;
    const int given = jp_arch_bare_return_sig(code);
    if (given < 0)
        return;
    rule->kind = JP_CFI_REGISTER;
    rule->base = JP_ARCH_SP;
    rule->offset = given + 8;
    rule->ra = -1;
    jp_cfi_keep_sig(pc, walk->buffer->maps_epoch, rule);
}

/* Finds the rule for the frame's pc, as find_sig, and sets the frame's
 * `unsure`. */
static int look_up_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                       struct jp_cfi_rule *rule)
{
    const int exact = frame->interrupted || frame->exact;
    const uint64_t pc = frame->pc - !exact;
    const uint32_t epoch = walk->buffer->maps_epoch;
    frame->unsure = 0;
    const int cached = jp_cfi_cached_sig(pc, epoch, rule);
    if (cached && (rule->kind != JP_CFI_NONE || exact))
        return GOING;
    if (!jp_walk_is_code_sig(walk, pc)) {
        rule->kind = JP_CFI_NONE;
        if (frame->interrupted)
            return GOING; /* a call of code that is not there */
        /* The code that a signal's handler returns to may be the first of its
         * mapping. */
        if (!exact && jp_walk_is_code_sig(walk, frame->pc))
            find_end_sig(walk, frame, rule);
        return rule->kind == JP_CFI_SIGNAL ? GOING : JP_REASON_NO_RULE;
    }
    walk->misses += !cached;
    /* A rule that cannot be made just now, because memory cannot be read, may
     * be made later; until then the frame pointer has to do. */
    frame->unsure = jp_cfi_lookup_sig(pc, epoch, walk->buffer->rows, rule) != 0;
    if (frame->unsure)
        rule->kind = JP_CFI_NONE;
    if (rule->kind == JP_CFI_NONE && !exact) {
        find_bare_sig(walk, frame, pc, rule);
        find_end_sig(walk, frame, rule);
    }
    return GOING;
}

/* Finds the rule for the frame's pc.  A return address is looked up minus one,
 * as it is behind its call; an exact pc is not.  Returns GOING, or why there
 * is no rule. */
static int find_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                    struct jp_cfi_rule *rule)
{
    const int reason = look_up_sig(walk, frame, rule);
    if (reason == GOING && rule->kind == JP_CFI_SIGNAL)
        frame->exact = 1;
    return reason;
}

/* Adds the frame.  An exact pc is stored plus one, since readers look all
 * frames but the first up minus one. */
static int push_sig(struct jp_walk *walk, const struct jp_walk_frame *frame)
{
    const int exact = frame->interrupted || frame->exact;
    if (exact)
        walk->arrived = walk->total + 1;
    return jp_walk_push_sig(walk, frame->pc + exact,
                            frame->registers[JP_ARCH_SP]);
}

/* Walks to the end; follow: with all preserved registers.  Returns why the walk
 * ended, or AGAIN. */
static int walk_sig(struct jp_walk *walk, int follow)
{
    struct jp_walk_frame frame = {.interrupted = 1, .follow = (uint32_t)follow};
    struct jp_cfi_rule rule;
    jp_arch_registers_sig(walk->context, frame.registers);
    frame.pc = frame.registers[JP_ARCH_PC];
    jp_walk_begin_sig(walk);
    jp_walk_lower_sig(walk, frame.registers[JP_ARCH_SP], JP_ARCH_RED_ZONE);
    int reason = find_sig(walk, &frame, &rule);
    jp_walk_push_sig(walk, frame.pc, frame.registers[JP_ARCH_SP]);
    while (reason == GOING) {
        if (!follow && walk->sure && walk->limit == walk->high) {
            reason = jp_walk_quick_sig(walk, &frame, &rule);
            if (reason == JP_WALK_LOOKUP)
                reason = find_sig(walk, &frame, &rule);
            if (reason != GOING)
                break;
        }
        reason = jp_walk_step_sig(walk, &frame, &rule);
        if (reason != GOING)
            break;
        if (jp_thread_is_start_sig(frame.pc))
            return frame.lost ? jp_walk_started_sig(walk) : JP_REASON_ROOT;
        if (frame.pc == 0 && !frame.interrupted)
            return jp_walk_root_sig(walk, 0);
        reason = find_sig(walk, &frame, &rule);
        if (reason == GOING && !push_sig(walk, &frame))
            return JP_REASON_DEPTH;
    }
    return reason;
}

enum jp_reason jp_walk_cfi_sig(struct jp_walk *walk)
{
    int reason = walk_sig(walk, 0);
    if (reason == AGAIN) {
        walk->moved = 0;
        if (!jp_walk_bounds_sig(walk, jp_arch_sp_sig(walk->context)))
            return JP_REASON_NO_STACK;
        reason = walk_sig(walk, 1);
    }
    jp_walk_cache_end_sig(walk);
    reason = jp_walk_end_sig(walk, reason);
    if (walk->doubtful &&
        (reason == JP_REASON_ROOT || reason == JP_REASON_FIBER))
        reason = JP_REASON_BAD_FP;
    if (walk->beside && reason == JP_REASON_ROOT)
        reason = JP_REASON_FIBER;
    return (enum jp_reason)reason;
}
