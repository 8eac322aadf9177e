/* SPDX-License-Identifier: MIT
 *
 * The rare steps of the hybrid walker: from stack to stack, through signals'
 * frames, by expressions; and finding the root of a stack that the program
 * made.
 * Runs in: handler, any thread. */
#include "walk_rare.h"

#include "sig/arch/arch.h"
#include "sig/state/buffer.h"
#include "sig/state/config.h"
#include "sig/state/thread.h"
#include "walk_ahead.h"

#define GOING JP_WALK_GOING
/* Of how many last frames the walk asks whether a call precedes them. */
#define ENDS_LOOKED_AT 4U

static const uint8_t saved[JP_ARCH_SAVED_COUNT] = JP_ARCH_SAVED;

_Static_assert(JP_ARCH_SIGNAL_BYTES <= sizeof(((struct jp_buffer *)0)->walker),
               "a buffer has room for an interrupted context");
_Static_assert(sizeof(((struct jp_buffer *)0)->rows) ==
                   JP_CFI_ROWS * sizeof(uint64_t),
               "and for rows of call-frame information");

void jp_walk_lower_sig(struct jp_walk *walk, uint64_t sp, uint64_t bytes)
{
    const struct jp_thread *thread = walk->thread;
    const uint64_t page = sp & ~4095ULL;
    uint64_t low = sp - bytes;
    int own = thread->stack.low <= low && sp < thread->stack.high;
    walk->low = own || low >= page ? low : page;
}

int jp_walk_over_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     uint64_t sp, uint64_t top, uint64_t below)
{
    if (!jp_walk_turn_sig(walk, frame->registers[JP_ARCH_SP], sp, sp - top))
        return 0;
    jp_walk_lower_sig(walk, sp - top, below);
    frame->registers[JP_ARCH_SP] = sp;
    return 1;
}

int jp_walk_signal_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    const uint64_t at = frame->registers[JP_ARCH_SP] + JP_ARCH_SIGNAL_CONTEXT;
    if (!jp_walk_inside_sig(walk, at) ||
        !jp_walk_inside_sig(walk, at + JP_ARCH_SIGNAL_BYTES - 8))
        return JP_REASON_BOUNDS;
    const ucontext_t *context = (const ucontext_t *)at;
    if (!walk->sure) {
        if (!jp_walk_copy_sig(walk, at, walk->buffer->walker,
                              JP_ARCH_SIGNAL_BYTES))
            return JP_REASON_BOUNDS;
        context = (const ucontext_t *)walk->buffer->walker;
    }
    const uint64_t before = frame->registers[JP_ARCH_SP];
    jp_arch_registers_sig(context, frame->registers);
    const uint64_t sp = frame->registers[JP_ARCH_SP];
    frame->registers[JP_ARCH_SP] = before;
    frame->pc = frame->registers[JP_ARCH_PC];
    frame->interrupted = 1;
    frame->lost = 0;
    return jp_walk_up_sig(walk, frame, sp, 8) ||
                   jp_walk_over_sig(walk, frame, sp, 0, JP_ARCH_RED_ZONE)
               ? GOING
               : JP_REASON_BOUNDS;
}

/* Goes to where longjmp leads, from one of its last instructions; on the same
 * stack only upwards. */
int jp_walk_jump_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     const struct jp_cfi_rule *rule)
{
    const uint64_t sp = frame->registers[rule->base];
    const uint64_t fp = frame->registers[rule->fp];
    const uint64_t pc = frame->registers[rule->ra];
    if (!frame->interrupted)
        return JP_REASON_NO_RULE;
    if (!jp_walk_up_sig(walk, frame, sp, 0) &&
        !jp_walk_over_sig(walk, frame, sp, 0, JP_ARCH_RED_ZONE))
        return JP_REASON_BOUNDS;
    frame->registers[JP_ARCH_FP] = fp;
    frame->pc = jp_arch_strip_sig(pc);
    frame->interrupted = frame->exact = 0;
    frame->lost = 1;
    return GOING;
}

/* Reads a word of the stack, or of any memory, for an expression. */
static int read_word_sig(void *data, uint64_t address, uint64_t *word)
{
    struct jp_walk *walk = data;
    return jp_walk_inside_sig(walk, address)
               ? jp_walk_read_sig(walk, address, word)
               : jp_walk_copy_sig(walk, address, word, sizeof(*word));
}

int jp_walk_computed_sig(struct jp_walk *walk, struct jp_walk_frame *frame)
{
    struct jp_cfi_values values = {
        .registers = frame->registers, .read_sig = read_word_sig, .data = walk};
    const uint64_t pc = frame->pc - !(frame->interrupted || frame->exact);
    const int level = frame->interrupted && !JP_ARCH_CALL_PUSHES;
    if (!frame->interrupted && !frame->follow)
        return JP_WALK_AGAIN;
    if (frame->lost ||
        walk->process->work_out_sig(pc, walk->buffer->maps_epoch,
                                    walk->buffer->rows, &values) != 0)
        return JP_REASON_NO_RULE;
    if (values.is_root)
        return jp_walk_root_sig(walk, 0);
    if (!jp_walk_up_sig(walk, frame, values.sp, level ? 0 : 1) &&
        !jp_walk_over_sig(walk, frame, values.sp, 8, JP_WALK_SAVED_BYTES))
        return JP_REASON_BOUNDS;
    frame->registers[JP_ARCH_FP] = values.fp;
    for (uint32_t i = 0; i < JP_ARCH_SAVED_COUNT; i++)
        frame->registers[saved[i]] = values.saved[i];
    frame->pc = jp_arch_strip_sig(values.ra);
    frame->interrupted = 0;
    frame->exact = values.exact;
    return GOING;
}

int jp_walk_root_sig(const struct jp_walk *walk, int by_hand)
{
    /* If the thread's own stack is not known, any stack counts as its own. */
    return by_hand || (!walk->on_own_stack && walk->thread->stack.high != 0)
               ? JP_REASON_FIBER
               : JP_REASON_ROOT;
}

/* Whether a return address follows no call instruction, so that code has put it
 * on the stack.  0 in JIT code, where that is common. */
static int is_by_hand_sig(const struct jp_walk *walk, uint64_t address)
{
    return !walk->process->is_anonymous_sig(address) &&
           jp_walk_called_sig(walk, address) == 0;
}

int jp_walk_end_sig(struct jp_walk *walk, int reason)
{
    if ((reason != JP_REASON_NO_RULE && reason != JP_REASON_BAD_FP &&
         reason != JP_REASON_BOUNDS) ||
        walk->on_own_stack || walk->thread->stack.high == 0 ||
        walk->total > jp_config.depth)
        return reason;
    for (uint32_t i = 1; i <= ENDS_LOOKED_AT; i++) {
        if (walk->total < walk->arrived + i)
            break;
        uint64_t *frame = walk->next - i;
        if (!is_by_hand_sig(walk, *frame))
            continue;
        ++*frame; /* exact */
        walk->next = frame + 1;
        walk->total -= i - 1;
        return JP_REASON_FIBER;
    }
    return reason;
}
