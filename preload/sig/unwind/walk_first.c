/* SPDX-License-Identifier: MIT
 *
 * The first frame of a thread.  Code without call-frame information may leave
 * out a caller, so a walk that comes from such code to jprof's own thread start
 * is complete only if that code belongs to the function which the start calls.
 * Runs in: handler, any thread. */
#include "walk_first.h"

#include "copied.h"
#include "sig/arch/arch.h"
#include "sig/state/buffer.h"
#include "sig/state/thread.h"

#define FIRST_BYTES 16384U /* of a function that are looked at */
#define COPY_BYTES 1024U

_Static_assert(COPY_BYTES <= sizeof(((struct jp_buffer *)0)->walker),
               "a buffer has room for what is looked at");

/* A function that is gone through from its beginning. */
struct sweep {
    struct jp_copied copied;
    uint64_t farthest; /* where branches so far lead to at most */
    uint64_t certain;  /* behind a call that may not return, with nothing since
                          that shows more to be this function's; 0: none */
    unsigned frames;   /* how often the code has set the frame pointer */
    unsigned restored; /* 1: it has taken it back, and not returned since */
};

/* Decodes the instruction at pc.  Returns 0 when it cannot be read. */
static int decode_sig(struct sweep *sweep, uint64_t pc,
                      struct jp_arch_step *step)
{
    const uint8_t *code = jp_copied_sig(&sweep->copied, pc);
    if (code == NULL)
        return 0;
    jp_arch_step_sig(code, step);
    return step->kind != JP_STEP_END;
}

/* Takes in what an instruction before `pc` says of how far the function that
 * begins at `first` reaches for certain: a branch back into it is its own, and
 * behind a call there may be anything, as the call may not return. */
static void reach_sig(struct sweep *sweep, const struct jp_arch_step *step,
                      uint64_t first, uint64_t pc)
{
    const uint64_t to = pc + (uint64_t)(int64_t)step->value;
    if (step->kind == JP_STEP_JUMP || step->kind == JP_STEP_BRANCH) {
        if (to - first < FIRST_BYTES && to > sweep->farthest)
            sweep->farthest = to;
        if (to - first < sweep->certain - first)
            sweep->certain = 0;
    } else if (step->kind == JP_STEP_CALL && sweep->certain == 0 &&
               sweep->farthest < pc) {
        sweep->certain = pc;
    }
}

/* Where the function at `first` ends: behind an instruction that goes away for
 * good and that no branch leads past.  Only functions that make a frame are
 * known so; the next frame that is made is another function's.  What returns
 * without taking back the frame pointer is another's without a frame, or no
 * code at all (a JIT compiler's data), behind a call that does not return.
 * Returns `first` for others. */
static uint64_t end_of_sig(struct jp_walk *walk, uint64_t first)
{
    struct sweep sweep = {.copied = {.walk = walk,
                                     .bytes = (uint8_t *)walk->buffer->walker,
                                     .room = COPY_BYTES}};
    struct jp_arch_step step;
    uint64_t pc = first;
    while (pc - first < FIRST_BYTES && decode_sig(&sweep, pc, &step)) {
        if (step.kind == JP_STEP_SET_FP && sweep.frames++ != 0)
            break;
        sweep.restored |= step.kind == JP_STEP_POP_FP ||
                          step.kind == JP_STEP_FROM_FP ||
                          (step.kind == JP_STEP_LOAD_LINK && step.reg != 0);
        pc += step.length;
        reach_sig(&sweep, &step, first, pc);
        const int returns = step.kind == JP_STEP_RETURN;
        if ((returns || step.kind == JP_STEP_JUMP ||
             step.kind == JP_STEP_OUT) &&
            sweep.farthest < pc) {
            if (returns && !sweep.restored)
                pc = sweep.certain != 0 ? sweep.certain : first;
            break;
        }
        if (returns && sweep.restored)
            sweep.restored = sweep.certain = 0;
    }
    return sweep.frames != 0 ? pc : first;
}

enum jp_reason jp_walk_started_sig(struct jp_walk *walk)
{
    struct jp_thread_stack *stack = &walk->thread->stack;
    const uint64_t half = (uint64_t)(walk->turn - walk->buffer->frames);
    const uint64_t *next =
        walk->next == walk->turn && walk->total > half ? walk->end : walk->next;
    /* A return address is behind its call. */
    const uint64_t pc = next[-1] - (walk->total > 1);
    if (!walk->process->is_anonymous_sig(pc))
        return JP_REASON_ROOT;
    if (stack->first_end == 0)
        stack->first_end = end_of_sig(walk, stack->first);
    return pc - stack->first < stack->first_end - stack->first
               ? JP_REASON_ROOT
               : JP_REASON_BAD_FP;
}
