/* SPDX-License-Identifier: MIT
 *
 * Callers on another stack, of code without call-frame information.
 * Runs in: handler. */
#ifndef JP_WALK_BACK_H
#define JP_WALK_BACK_H

#include "walk_frame.h"

/* Called in code without call-frame information whose frame pointer leads
 * nowhere on this stack.
 * back: goes to the stack that the code behind the frame's call goes back to,
 * and sets the frame pointer that it has there; the frame stays the same.
 * Returns JP_WALK_GOING, JP_WALK_AGAIN or JP_REASON_BAD_FP.
 * aligned: goes to the caller, and returns 1, if the code has aligned the
 * stack and has no frame pointer.
 * jumped: goes to the caller of the function that has jumped to the code, as
 * GHC's StgRun does, and returns 1, if that is so.
 * left: goes to the caller, and returns 1, if the code has come from another
 * stack and the frame pointer still leads to its frame, or its caller's, there:
 * of Go's functions those that go on on the thread's stack, or come back from
 * there; the function by which SBCL enters Lisp.
 * begun: whether the code has set both the stack pointer and the frame pointer
 * before its call, the latter to 0: it is the root of what it has called. */
int jp_walk_back_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_aligned_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_jumped_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_left_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_begun_sig(const struct jp_walk *walk,
                      const struct jp_walk_frame *frame);

#endif
