/* SPDX-License-Identifier: MIT
 *
 * The rare steps of the hybrid walker, and the roots of stacks.
 * Runs in: handler. */
#ifndef JP_WALK_RARE_H
#define JP_WALK_RARE_H

#include "cfi/cfi_run.h"
#include "walk_frame.h"

/* Sets the frame's sp to another stack, which the address sp - top is on;
 * reads may reach `below` bytes below that.  Returns 0 when there is no such
 * stack, or the walk has been there. */
int jp_walk_over_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     uint64_t sp, uint64_t top, uint64_t below);

/* Lets reads reach `bytes` below sp, as far as memory is known to be mapped: a
 * leaf function saves registers in the red zone there, and an epilogue has just
 * restored them from there. */
void jp_walk_lower_sig(struct jp_walk *walk, uint64_t sp, uint64_t bytes);

/* Bytes below a CFA on another stack, for what the function that left that
 * stack has saved. */
#define JP_WALK_SAVED_BYTES 512U

/* Steps of rare kinds: out of a signal's frame, to where longjmp goes, by
 * expressions.  Return JP_WALK_GOING, JP_WALK_AGAIN or why the walk ends. */
int jp_walk_signal_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_jump_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     const struct jp_cfi_rule *rule);
int jp_walk_computed_sig(struct jp_walk *walk, struct jp_walk_frame *frame);

/* The reason for a walk that has come to a root: JP_REASON_ROOT for the
 * thread's, JP_REASON_FIBER for that of a stack which the program made.
 * by_hand: it is known to be the latter. */
int jp_walk_root_sig(const struct jp_walk *walk, int by_hand);

/* Corrects the reason of a walk that ended for want of a rule or plausible
 * frame on a stack that the program made: if no call instruction precedes the
 * pc of one of the last frames, that frame is the stack's root. */
int jp_walk_end_sig(struct jp_walk *walk, int reason);

#endif
