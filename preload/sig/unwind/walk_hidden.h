/* SPDX-License-Identifier: MIT
 *
 * Callers that the frame pointer leads past.
 * Runs in: handler. */
#ifndef JP_WALK_HIDDEN_H
#define JP_WALK_HIDDEN_H

#include "walk_frame.h"

/* Called where the code does not tell whether an interrupted frame without
 * call-frame information is its own: goes to the caller, and returns 1, if a
 * call to this very function, or the code before the pc, says where its return
 * address is.  Else returns 0, as the frame pointer leads to the caller; sets
 * the walk's `doubtful` if it may lead past it. */
int jp_walk_hidden_sig(struct jp_walk *walk, struct jp_walk_frame *frame);

/* Whether the call before an address is of the function that the frame is in
 * (without a frame, so shorter than a page), or may be, as it goes to where a
 * register says.  For CALLS, *from gets how far behind the place called the
 * frame's pc is: of two, the nearer one is where the function begins. */
enum jp_calls {
    JP_WALK_CALLS_NONE, /* there is no call, or no code */
    JP_WALK_CALLS_OTHER,
    JP_WALK_MAY_CALL,
    JP_WALK_CALLS
};
enum jp_calls jp_walk_calls_sig(struct jp_walk *walk,
                                struct jp_walk_frame *frame, uint64_t address,
                                uint64_t *from);

#endif
