/* SPDX-License-Identifier: MIT
 *
 * The hybrid walker: by call-frame information where code has it, by the
 * frame pointer where it has none (code of JIT compilers), frame by frame.
 * Runs in: handler, any thread. */
#include <stddef.h>
#include <string.h>

#include "arch/arch.h"
#include "cfi_cache.h"
#include "kit.h"
#include "maps.h"
#include "slot.h"
#include "sys.h"
#include "walk.h"

#define SWITCHES_MAX 16U   /* stacks that one walk may lead through */
#define GOING (-1)         /* no reason to end yet */
#define AGAIN (-2)         /* a register is needed that was not followed */

/* The frame that the walk is at. */
struct frame {
    uint64_t registers[JP_ARCH_REGISTERS];
    uint64_t pc;
    uint32_t interrupted;  /* pc is the next instruction to run, and every
                              register is known; otherwise pc returns here,
                              and those that calls preserve are known */
    uint32_t follow;       /* these are really restored, not only sp and fp */
    uint32_t lost;         /* a frame on the way restored none of them */
    uint32_t switches;
};

static const uint8_t saved[JP_ARCH_SAVED_COUNT] = JP_ARCH_SAVED;

_Static_assert(JP_ARCH_SIGNAL_BYTES <= sizeof(((struct jp_kit *)0)->walker),
               "a kit has room for an interrupted context");

static int inside_sig(const struct jp_walk *walk, uint64_t address)
{
    return address >= walk->low && address <= walk->high - 8 &&
           (address & 7) == 0;
}

/* A word of the stack.  What cannot be read leads nowhere: 1 is no code and no
 * frame pointer. */
static uint64_t load_sig(const struct jp_walk *walk, uint64_t address)
{
    uint64_t word;
    return jp_walk_read_sig(walk, address, &word, 1) ? word : 1;
}

/* Why a walk is over whose frame pointer leads nowhere, in code without
 * call-frame information. */
static int end_sig(const struct jp_walk *walk, const struct frame *frame)
{
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    if (fp == 0 && (walk->slot->adopted || walk->slot->is_main))
        return JP_REASON_ROOT;
    return jp_maps_anonymous_sig(frame->pc) ? JP_REASON_BAD_FP
                                            : JP_REASON_NO_RULE;
}

/* The interrupted function may not have made its frame yet, or have given it
 * up: its caller is where sp says. */
static int frameless_sig(struct jp_walk *walk, struct frame *frame)
{
    if (walk->total != 1)
        return 0;
    int offset = jp_arch_frameless_sig(walk->context);
    uint64_t at = frame->registers[JP_ARCH_SP] + (uint64_t)offset;
    if (offset < 0 || !inside_sig(walk, at))
        return 0;
    uint64_t caller = load_sig(walk, at);
    if (!jp_maps_executable_sig(walk->kit, caller))
        return 0;
    if (offset != 0)
        frame->registers[JP_ARCH_FP] = load_sig(walk, at - 8);
    frame->registers[JP_ARCH_SP] = at + 8;
    frame->pc = caller;
    return 1;
}

static int step_fp_sig(struct jp_walk *walk, struct frame *frame)
{
    const uint64_t fp = frame->registers[JP_ARCH_FP];
    if (frame->interrupted && frameless_sig(walk, frame)) {
        frame->interrupted = 0;
        return GOING;
    }
    if (fp < frame->registers[JP_ARCH_SP] || !inside_sig(walk, fp) ||
        !inside_sig(walk, fp + 8))
        return end_sig(walk, frame);
    uint64_t caller = jp_arch_strip_sig(load_sig(walk, fp + 8));
    if (!jp_maps_executable_sig(walk->kit, caller))
        return caller == 0 ? JP_REASON_ROOT : JP_REASON_BAD_FP;
    frame->registers[JP_ARCH_SP] = fp + 16;
    frame->registers[JP_ARCH_FP] = load_sig(walk, fp);
    frame->pc = caller;
    frame->interrupted = 0;
    frame->lost = 1;
    return GOING;
}

/* Lets a leaf's reads reach below sp, as far as the interruption has left it
 * alone: a function saves registers there, and an epilogue has just read them
 * back from there.  Not beyond what is known to be mapped. */
static void lower_sig(struct jp_walk *walk, uint64_t sp)
{
    const struct jp_slot *slot = walk->slot;
    const uint64_t page = sp & ~4095ULL;
    uint64_t low = sp - JP_ARCH_RED_ZONE;
    int own = slot->stack_low <= low && sp < slot->stack_high;
    walk->low = own || low >= page ? low : page;
}

/* The walk goes on at sp, on another stack. */
static int switch_sig(struct jp_walk *walk, struct frame *frame, uint64_t sp)
{
    if (frame->switches++ == SWITCHES_MAX || !jp_walk_bounds_sig(walk, sp))
        return 0;
    lower_sig(walk, sp);
    return 1;
}

static int step_signal_sig(struct jp_walk *walk, struct frame *frame)
{
    const uint64_t at =
        frame->registers[JP_ARCH_SP] + JP_ARCH_SIGNAL_CONTEXT;
    if (!inside_sig(walk, at) ||
        !inside_sig(walk, at + JP_ARCH_SIGNAL_BYTES - 8))
        return JP_REASON_BOUNDS;
    const ucontext_t *context = (const ucontext_t *)at;
    if (!walk->rooted) {
        if (jp_sys_peek_sig(at, walk->kit->walker, JP_ARCH_SIGNAL_BYTES) !=
            JP_ARCH_SIGNAL_BYTES)
            return JP_REASON_BOUNDS;
        context = (const ucontext_t *)walk->kit->walker;
    }
    const uint64_t before = frame->registers[JP_ARCH_SP];
    jp_arch_registers_sig(context, frame->registers);
    frame->pc = frame->registers[JP_ARCH_PC];
    frame->interrupted = 1;
    frame->lost = 0;
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    if ((sp <= before || sp >= walk->high) && !switch_sig(walk, frame, sp))
        return JP_REASON_BOUNDS;
    return GOING;
}

/* Whether a register's value is known in this frame. */
static int known_sig(const struct frame *frame, uint32_t number)
{
    if (frame->interrupted || number == JP_ARCH_SP || number == JP_ARCH_FP)
        return GOING;
    for (uint32_t i = 0; i < JP_ARCH_SAVED_COUNT; i++) {
        if (saved[i] == number)
            return !frame->follow ? AGAIN
                   : frame->lost  ? JP_REASON_NO_RULE
                                  : GOING;
    }
    return JP_REASON_NO_RULE;
}

/* Finds the CFA.  Returns GOING, or why not. */
static int cfa_sig(struct jp_walk *walk, struct frame *frame,
                   const struct jp_cfi_rule *rule, uint64_t *cfa)
{
    if (rule->base != JP_ARCH_SP && rule->base != JP_ARCH_FP) {
        int known = known_sig(frame, rule->base);
        if (known != GOING)
            return known;
    }
    const uint64_t base = frame->registers[rule->base];
    if (rule->kind == JP_CFI_REGISTER) {
        *cfa = base + (uint64_t)(int64_t)rule->offset;
    } else {
        uint64_t at = base + (uint64_t)(int64_t)JP_CFI_AT(rule->offset);
        if (!inside_sig(walk, at))
            return JP_REASON_BOUNDS;
        *cfa = load_sig(walk, at) + (uint64_t)(int64_t)JP_CFI_ADD(rule->offset);
    }
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    if (*cfa <= walk->high &&
        (*cfa > sp || (*cfa == sp && !JP_ARCH_CALL_PUSHES)))
        return GOING;
    /* Code that changes stacks keeps where it came from in memory. */
    if (rule->kind == JP_CFI_MEMORY && switch_sig(walk, frame, *cfa - 8))
        return GOING;
    return JP_REASON_BOUNDS;
}

static int restore_sig(struct jp_walk *walk, struct frame *frame,
                       const struct jp_cfi_rule *rule, uint64_t from)
{
    for (uint32_t i = 0; i < JP_ARCH_SAVED_COUNT; i++) {
        uint64_t at = from + (uint64_t)(rule->saved[i] * 8);
        if (rule->saved[i] == 0)
            continue;
        if (!inside_sig(walk, at))
            return JP_REASON_BOUNDS;
        frame->registers[saved[i]] = load_sig(walk, at);
    }
    return GOING;
}

static int step_cfi_sig(struct jp_walk *walk, struct frame *frame,
                        const struct jp_cfi_rule *rule)
{
    uint64_t cfa, ra;
    int reason = cfa_sig(walk, frame, rule, &cfa);
    if (reason != GOING)
        return reason;
    if ((rule->flags & JP_CFI_RA_REGISTER) == 0) {
        uint64_t at = cfa + (uint64_t)((int64_t)rule->ra * 8);
        if (!inside_sig(walk, at))
            return JP_REASON_BOUNDS;
        ra = load_sig(walk, at);
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
    if ((rule->flags & JP_CFI_FP_SAVED) != 0) {
        uint64_t at = from + (uint64_t)((int64_t)rule->fp * 8);
        if (!inside_sig(walk, at))
            return JP_REASON_BOUNDS;
        frame->registers[JP_ARCH_FP] = load_sig(walk, at);
    }
    frame->registers[JP_ARCH_SP] = cfa;
    frame->pc = jp_arch_strip_sig(ra);
    frame->interrupted = 0;
    return GOING;
}

/* From one frame to the next.  Returns GOING, AGAIN, or why the walk ends. */
static int step_sig(struct jp_walk *walk, struct frame *frame,
                    const struct jp_cfi_rule *rule)
{
    switch (rule->kind) {
    case JP_CFI_REGISTER:
    case JP_CFI_MEMORY:
        return step_cfi_sig(walk, frame, rule);
    case JP_CFI_NONE:
        return step_fp_sig(walk, frame);
    case JP_CFI_SIGNAL:
        return step_signal_sig(walk, frame);
    case JP_CFI_ROOT:
        return JP_REASON_ROOT;
    default:
        return JP_REASON_NO_RULE;
    }
}

/* The byte before a return address is in no function, but the address is:
 * nobody called.  A stack made by hand (glibc's makecontext) ends in such
 * code, and a signal's frame may return to it. */
static void find_end_sig(const struct frame *frame, uint32_t epoch,
                         struct jp_cfi_rule *rule)
{
    struct jp_cfi_rule first;
    if (!jp_maps_anonymous_sig(frame->pc) &&
        jp_cfi_lookup_sig(frame->pc, epoch, &first) == 0 &&
        first.kind != JP_CFI_NONE && first.kind != JP_CFI_BAD)
        rule->kind =
            first.kind == JP_CFI_SIGNAL ? JP_CFI_SIGNAL : JP_CFI_ROOT;
}

/* The rule for the frame's pc; a return address is behind its call.  Returns
 * GOING, or why there is none. */
static int find_sig(struct jp_walk *walk, const struct frame *frame,
                    struct jp_cfi_rule *rule)
{
    const uint64_t pc = frame->pc - !frame->interrupted;
    const uint32_t epoch = walk->kit->maps_epoch;
    if (jp_cfi_cached_sig(pc, epoch, rule) &&
        (rule->kind != JP_CFI_NONE || frame->interrupted))
        return GOING;
    if (!jp_maps_executable_sig(walk->kit, pc))
        return JP_REASON_NO_RULE;
    if (jp_cfi_lookup_sig(pc, epoch, rule) != 0)
        return JP_REASON_NO_RULE;
    if (rule->kind == JP_CFI_NONE && !frame->interrupted)
        find_end_sig(frame, epoch, rule);
    return GOING;
}

/* A rule taken apart in registers: both words of it, as they lie in memory on
 * a little-endian machine. */
#define WORD_OFFSET(w) ((int64_t)(int32_t)(w)[0])
#define WORD_BASE(w) ((w)[0] >> 40 & 0xff)
#define WORD_RA(w) ((int64_t)(w)[0] >> 48)
#define WORD_FP(w) ((int64_t)(int16_t)(w)[1])
#define WORD_FLAGS(w) ((w)[1] >> 56)
#define WORD_KIND(w) ((w)[0] >> 32 & 0xff)
_Static_assert(offsetof(struct jp_cfi_rule, kind) == 4 &&
                   offsetof(struct jp_cfi_rule, base) == 5 &&
                   offsetof(struct jp_cfi_rule, ra) == 6 &&
                   offsetof(struct jp_cfi_rule, fp) == 8 &&
                   offsetof(struct jp_cfi_rule, flags) == 15,
               "the words of a rule");

/* Goes on from frame to frame as long as it is simple: the CFA from sp or fp,
 * everything where it should be, the next rule at hand.  What is not is left
 * to step_sig, at the frame where it comes up.  Returns GOING or DEPTH. */
static int hurry_sig(struct jp_walk *walk, struct frame *frame,
                     struct jp_cfi_rule *rule)
{
    const uint64_t low = walk->low, room = walk->high - 8 - low;
    const uint32_t epoch = walk->kit->maps_epoch;
    uint64_t sp = frame->registers[JP_ARCH_SP];
    uint64_t fp = frame->registers[JP_ARCH_FP];
    uint64_t pc = frame->pc, words[2], next[2];
    int reason = GOING, moved = 0;
    memcpy(words, rule, sizeof(words));
    while (reason == GOING && WORD_KIND(words) == JP_CFI_REGISTER) {
        const uint64_t base = WORD_BASE(words), flags = WORD_FLAGS(words);
        if ((base != JP_ARCH_SP && base != JP_ARCH_FP) ||
            (flags & (JP_CFI_FP_BASED | JP_CFI_RA_REGISTER)) != 0)
            break;
        const uint64_t cfa =
            (base == JP_ARCH_SP ? sp : fp) + (uint64_t)WORD_OFFSET(words);
        const uint64_t ra_at = cfa + (uint64_t)WORD_RA(words) * 8;
        const uint64_t fp_at = cfa + (uint64_t)WORD_FP(words) * 8;
        const int saves = (flags & JP_CFI_FP_SAVED) != 0;
        if (cfa <= sp || cfa > walk->high || (cfa & 7) != 0 ||
            ra_at - low > room || (saves && fp_at - low > room))
            break;
        const uint64_t caller = jp_arch_strip_sig(load_sig(walk, ra_at));
        if (jp_thread_is_start_sig(caller) ||
            !jp_cfi_words_sig(caller - 1, epoch, next) ||
            WORD_KIND(next) == JP_CFI_NONE)
            break;
        fp = saves ? load_sig(walk, fp_at) : fp;
        sp = cfa;
        pc = caller;
        words[0] = next[0];
        words[1] = next[1];
        moved = 1;
        if (!jp_walk_push_sig(walk, pc))
            reason = JP_REASON_DEPTH;
    }
    if (moved) {
        frame->registers[JP_ARCH_SP] = sp;
        frame->registers[JP_ARCH_FP] = fp;
        frame->pc = pc;
        frame->interrupted = 0;
        memcpy(rule, words, sizeof(words));
    }
    return reason;
}

static int walk_sig(struct jp_walk *walk, int follow)
{
    struct frame frame = {.interrupted = 1, .follow = (uint32_t)follow};
    struct jp_cfi_rule rule;
    jp_arch_registers_sig(walk->context, frame.registers);
    frame.pc = frame.registers[JP_ARCH_PC];
    walk->total = 0;
    lower_sig(walk, frame.registers[JP_ARCH_SP]);
    int reason = find_sig(walk, &frame, &rule);
    jp_walk_push_sig(walk, frame.pc);
    while (reason == GOING) {
        if (!follow && walk->rooted &&
            hurry_sig(walk, &frame, &rule) != GOING)
            return JP_REASON_DEPTH;
        reason = step_sig(walk, &frame, &rule);
        if (reason != GOING)
            break;
        if (frame.pc == 0 || jp_thread_is_start_sig(frame.pc))
            return JP_REASON_ROOT;
        reason = find_sig(walk, &frame, &rule);
        if (reason == GOING && !jp_walk_push_sig(walk, frame.pc))
            return JP_REASON_DEPTH;
    }
    return reason;
}

enum jp_reason jp_walk_cfi_sig(struct jp_walk *walk)
{
    const struct jp_walk begin = *walk;
    int reason = walk_sig(walk, 0);
    if (reason == AGAIN) {
        *walk = begin;
        reason = walk_sig(walk, 1);
    }
    return (enum jp_reason)reason;
}
