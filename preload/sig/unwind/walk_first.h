/* SPDX-License-Identifier: MIT
 *
 * The first frame of a thread.
 * Runs in: handler. */
#ifndef JP_WALK_FIRST_H
#define JP_WALK_FIRST_H

#include "walk.h"

/* The reason for a walk that has come to jprof's own start of a thread.  Where
 * the last frame is JIT code that is not of the function which the start calls,
 * a caller is missing: the frame pointer was that of the caller. */
enum jp_reason jp_walk_started_sig(struct jp_walk *walk);

#endif
