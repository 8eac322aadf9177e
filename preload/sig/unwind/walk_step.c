/* SPDX-License-Identifier: MIT
 *
 * One step of the hybrid walker, from a frame to its caller.
 * Runs in: handler. */
#include "walk_step.h"

#include "sig/arch/arch.h"
#include "sig/state/config.h"
#include "sig/state/thread.h"
#include "walk_ahead.h"
#include "walk_back.h"
#include "walk_hidden.h"
#include "walk_rare.h"

#define ENTRY_BYTES 80U /* of the stack: the frame of the program's entry */
#define RETURNS 32U     /* callers found by what code does after its call */
#define GOING JP_WALK_GOING
#define AGAIN JP_WALK_AGAIN

static const uint8_t saved[JP_ARCH_SAVED_COUNT] = JP_ARCH_SAVED;

/* Whether a return address is that of a program's entry code, written by hand:
 * behind a call that never returns (Free Pascal's start-up code, which main
 * calls). */
static int is_entry_sig(const struct jp_walk *walk,
                        const struct jp_walk_frame *frame)
{
    const int halt = JP_ARCH_HALT;
    uint8_t code;
    return halt >= 0 && !frame->interrupted && !frame->exact &&
           jp_walk_copy_sig(walk, frame->pc, &code, 1) && code == halt;
}

/* The reason to end in code without call-frame information whose frame pointer
 * leads nowhere.  As such code may use the frame pointer as it likes, a frame
 * pointer of 0 marks the root only in the frame of the program's entry, in
 * entry code of the program's own, in the code that started an adopted thread,
 * and at the end of a fiber's chain; in JIT code only on a stack that is not
 * the thread's own, at an address that is behind no call (Erlang's processes
 * begin with a return address into normal_exit). */
static int end_sig(const struct jp_walk *walk,
                   const struct jp_walk_frame *frame)
{
    const struct jp_thread *thread = walk->thread;
    if (walk->process->is_anonymous_sig(frame->pc))
        return frame->registers[JP_ARCH_FP] == 0 && !frame->interrupted &&
                       !walk->on_own_stack && thread->stack.high != 0 &&
                       jp_walk_called_sig(walk, frame->pc) == 0
                   ? JP_REASON_FIBER
                   : JP_REASON_BAD_FP;
    if (frame->registers[JP_ARCH_FP] != 0 || frame->unsure)
        return JP_REASON_NO_RULE;
    if (jp_walk_begun_sig(walk, frame))
        return jp_walk_root_sig(walk, 1);
    const int outermost =
        thread->stack.is_main && walk->on_own_stack
            ? walk->high - ENTRY_BYTES <= frame->registers[JP_ARCH_SP] ||
                  is_entry_sig(walk, frame)
            : !frame->interrupted &&
                  (thread->adopted || (frame->lost && !walk->on_own_stack));
    return outermost ? jp_walk_root_sig(walk, 0) : JP_REASON_NO_RULE;
}

/* Goes to the caller of an interrupted function that has not made its frame
 * yet, or has given it up, by the word at sp.  Returns 0 when that is not
 * so. */
static int frameless_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    /* A call of code that is not there has only pushed its return address. */
    int offset = JP_ARCH_CALL_PUSHES - 1;
    if (jp_walk_is_code_sig(walk, frame->pc)) {
        if (walk->total != 1)
            return 0;
        offset = jp_arch_frameless_sig(walk->context);
    }
    uint64_t at = frame->registers[JP_ARCH_SP] + (uint64_t)offset;
    if (offset < 0 || !jp_walk_inside_sig(walk, at))
        return 0;
    uint64_t caller = jp_walk_load_sig(walk, at);
    if (!jp_walk_is_code_sig(walk, caller))
        return 0;
    if (!jp_walk_up_sig(walk, frame, at + 8, 8))
        return 0;
    if (offset != 0)
        frame->registers[JP_ARCH_FP] = jp_walk_load_sig(walk, at - 8);
    frame->pc = caller;
    return 1;
}

/* Goes to the caller of an interrupted linker's stub, which is in a register.
 * Returns 0 when the code is no stub. */
static int stub_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    uint64_t pushed = 0;
    const uint64_t caller = jp_arch_strip_sig(frame->registers[JP_ARCH_RA]);
    if (!frame->interrupted || walk->total != 1 ||
        (jp_walk_has_code_sig(walk) &&
         !jp_arch_stub_sig(walk->context, &pushed)) ||
        walk->process->is_anonymous_sig(frame->pc) ||
        !jp_walk_is_code_sig(walk, caller) ||
        !jp_walk_up_sig(walk, frame, frame->registers[JP_ARCH_SP] + pushed,
                        pushed))
        return 0;
    frame->pc = caller;
    frame->interrupted = frame->exact = 0;
    return 1;
}

/* Goes to the caller of an interrupted function that has no frame of its own.
 * Returns 0 where the frame pointer leads there. */
static int bare_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    if (frameless_sig(walk, frame))
        return 1;
    const enum jp_ahead ahead = jp_walk_ahead_sig(walk, frame);
    return ahead == JP_AHEAD_AT ||
           (ahead == JP_AHEAD_UNKNOWN && jp_walk_hidden_sig(walk, frame));
}

/* Whether the frame pointer leads to a frame record on the walk's stack. */
static int has_record_sig(const struct jp_walk *walk,
                          const struct jp_walk_frame *frame)
{
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    return fp + JP_ARCH_FRAME_FP >= frame->registers[JP_ARCH_SP] &&
           jp_walk_inside_sig(walk, fp + JP_ARCH_FRAME_FP) &&
           jp_walk_inside_sig(walk, fp + JP_ARCH_FRAME_RA);
}

/* Goes to the caller of a function whose frame pointer leads to no caller, by
 * what its code does when its call has returned.  Returns 0 when that does not
 * tell.  (Where calls do not push, sp may not be known in a caller.) */
static int return_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    return JP_ARCH_CALL_PUSHES && !frame->interrupted && !frame->exact &&
           !jp_walk_begun_sig(walk, frame) && walk->returns++ < RETURNS &&
           jp_walk_ahead_sig(walk, frame) == JP_AHEAD_AT;
}

/* Goes to the caller by the frame pointer. */
static int step_fp_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    if (frame->interrupted && bare_sig(walk, frame)) {
        frame->interrupted = frame->exact = 0;
        return GOING;
    }
    if (!has_record_sig(walk, frame)) {
        if (jp_walk_aligned_sig(walk, frame) || jp_walk_jumped_sig(walk, frame))
            return GOING;
        const int back = jp_walk_back_sig(walk, frame);
        if (back == AGAIN)
            return AGAIN;
        if (back != GOING || !has_record_sig(walk, frame)) {
            return jp_walk_left_sig(walk, frame) || return_sig(walk, frame)
                       ? GOING
                       : end_sig(walk, frame);
        }
    }
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    const uint64_t fp_at = fp + JP_ARCH_FRAME_FP;
    const uint64_t ra_at = fp + JP_ARCH_FRAME_RA;
    uint64_t caller = jp_arch_strip_sig(jp_walk_load_sig(walk, ra_at));
    if (!jp_walk_is_code_sig(walk, caller)) {
        if (return_sig(walk, frame))
            return GOING;
        return caller == 0 && !walk->on_own_stack && !frame->interrupted
                   ? jp_walk_root_sig(walk, 0)
                   : JP_REASON_BAD_FP;
    }
    if (!jp_walk_up_sig(walk, frame, fp + JP_ARCH_FRAME_END, 16))
        return end_sig(walk, frame);
    frame->registers[JP_ARCH_FP] = jp_walk_load_sig(walk, fp_at);
    frame->pc = caller;
    frame->interrupted = frame->exact = 0;
    frame->lost = JP_WALK_BY_FP;
    return GOING;
}

/* Whether a register's value is known in this frame: GOING, AGAIN or why
 * not. */
static int known_sig(const struct jp_walk_frame *frame, uint32_t number)
{
    if (frame->interrupted || number == JP_ARCH_SP || number == JP_ARCH_FP)
        return GOING;
    for (uint32_t i = 0; i < JP_ARCH_SAVED_COUNT; i++) {
        if (saved[i] == number)
            return !frame->follow ? AGAIN
                   : frame->lost  ? JP_REASON_NO_RULE
                                  : GOING;
    }
    /* A register that calls do not preserve.  Only hand-written code relies on
     * one across a call, knowing that its callee does not change it
     * (libcrypto's aesni_gcm_encrypt: rax). */
    return frame->lost ? JP_REASON_NO_RULE : GOING;
}

/* Finds the CFA.  Returns GOING, or why not. */
static int cfa_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                   const struct jp_cfi_rule *rule, uint64_t *cfa)
{
    if (rule->base != JP_ARCH_SP && rule->base != JP_ARCH_FP) {
        int known = known_sig(frame, rule->base);
        if (known != GOING)
            return known;
    }
    const uint64_t base = frame->registers[rule->base];
    if (JP_ARCH_FRAMES_LOW && frame->lost == JP_WALK_BY_FP &&
        rule->kind == JP_CFI_REGISTER && rule->base == JP_ARCH_SP &&
        (rule->flags & JP_CFI_FP_SAVED) != 0) {
        *cfa = frame->registers[JP_ARCH_FP] - (uint64_t)(rule->fp * 8);
    } else if (rule->kind == JP_CFI_REGISTER) {
        *cfa = base + (uint64_t)(int64_t)rule->offset;
    } else {
        uint64_t at = base + (uint64_t)(int64_t)JP_CFI_AT(rule->offset);
        if (!jp_walk_inside_sig(walk, at))
            return JP_REASON_BOUNDS;
        *cfa = jp_walk_load_sig(walk, at) +
               (uint64_t)(int64_t)JP_CFI_ADD(rule->offset);
    }
    return GOING;
}

/* Sets sp to the CFA, on this stack or on another one: code that changes stacks
 * has a CFA that counts from memory or from a register other than sp. */
static int to_cfa_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                      const struct jp_cfi_rule *rule, uint64_t cfa)
{
    /* vfork keeps its return address in a register while it waits, even where
     * calls push it. */
    const int level =
        frame->interrupted &&
        (!JP_ARCH_CALL_PUSHES || (rule->flags & JP_CFI_RA_REGISTER) != 0);
    if (jp_walk_up_sig(walk, frame, cfa, level ? 0 : 1))
        return GOING;
    if (rule->kind == JP_CFI_REGISTER && rule->base == JP_ARCH_SP)
        return JP_REASON_BOUNDS;
    return jp_walk_over_sig(walk, frame, cfa, 8, JP_WALK_SAVED_BYTES)
               ? GOING
               : JP_REASON_BOUNDS;
}

/* Restores the preserved registers other than the frame pointer. */
static int restore_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                       const struct jp_cfi_rule *rule, uint64_t from)
{
    for (uint32_t i = 0; i < JP_ARCH_SAVED_COUNT; i++) {
        uint64_t at = from + (uint64_t)(rule->saved[i] * 8);
        if (rule->saved[i] == 0)
            continue;
        if (!jp_walk_inside_sig(walk, at))
            return JP_REASON_BOUNDS;
        frame->registers[saved[i]] = jp_walk_load_sig(walk, at);
    }
    return GOING;
}

/* Goes to the caller by a rule. */
static int step_cfi_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                        const struct jp_cfi_rule *rule)
{
    uint64_t cfa, ra;
    int reason = cfa_sig(walk, frame, rule, &cfa);
    if (reason == GOING)
        reason = to_cfa_sig(walk, frame, rule, cfa);
    if (reason != GOING)
        return reason;
    if ((rule->flags & JP_CFI_RA_REGISTER) == 0) {
        uint64_t at = cfa + (uint64_t)((int64_t)rule->ra * 8);
        if (!jp_walk_inside_sig(walk, at))
            return JP_REASON_BOUNDS;
        ra = jp_walk_load_sig(walk, at);
    } else {
        if (!frame->interrupted)
            return JP_REASON_NO_RULE;
        ra = frame->registers[rule->ra];
    }
    uint64_t from = (rule->flags & JP_CFI_FP_BASED) != 0
                        ? frame->registers[JP_ARCH_FP]
                        : cfa;
    if (frame->follow && (rule->flags & JP_CFI_HAS_SAVED) != 0) {
        reason = restore_sig(walk, frame, rule, from);
        if (reason != GOING)
            return reason;
    }
    if ((rule->flags & JP_CFI_FP_SAVED) != 0 &&
        (walk->total != 1 || (rule->flags & JP_CFI_FP_BASED) == 0 ||
         !jp_arch_fp_popped_sig(walk->context))) {
        uint64_t at = from + (uint64_t)((int64_t)rule->fp * 8);
        if (!jp_walk_inside_sig(walk, at))
            return JP_REASON_BOUNDS;
        frame->registers[JP_ARCH_FP] = jp_walk_load_sig(walk, at);
    }
    frame->pc = jp_arch_strip_sig(ra);
    frame->interrupted = 0;
    if (JP_ARCH_FRAMES_LOW && frame->lost != 0)
        frame->lost = JP_WALK_LOST;
    frame->exact = (rule->flags & JP_CFI_EXACT) != 0;
    return GOING;
}

/* Whether a rule reads the frame pointer from the frame of what the code has
 * called, although the walk has restored it from there.  (SBCL's
 * call_into_lisp, whose information is true until Lisp returns.) */
static int is_restored_sig(const struct jp_walk_frame *frame,
                           const struct jp_cfi_rule *rule)
{
    return frame->lost == JP_WALK_BY_FP && rule->base == JP_ARCH_FP &&
           JP_CFI_AT(rule->offset) == 0 &&
           JP_CFI_ADD(rule->offset) == JP_ARCH_FRAME_END;
}

int jp_walk_step_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     const struct jp_cfi_rule *rule)
{
    switch (rule->kind) {
    case JP_CFI_MEMORY:
        if (is_restored_sig(frame, rule))
            return step_fp_sig(walk, frame);
        /* fall through */
    case JP_CFI_REGISTER:
        return step_cfi_sig(walk, frame, rule);
    case JP_CFI_NONE:
        if (stub_sig(walk, frame))
            return GOING;
        return jp_config.walker == JP_WALKER_CFI ? JP_REASON_NO_RULE
                                                 : step_fp_sig(walk, frame);
    case JP_CFI_SIGNAL:
        return jp_walk_signal_sig(walk, frame);
    case JP_CFI_COMPUTED:
        return jp_walk_computed_sig(walk, frame);
    case JP_CFI_ROOT:
        return jp_walk_root_sig(walk, (rule->flags & JP_CFI_BY_HAND) != 0);
    case JP_CFI_JUMP:
        return jp_walk_jump_sig(walk, frame, rule);
    default:
        return JP_REASON_NO_RULE;
    }
}
