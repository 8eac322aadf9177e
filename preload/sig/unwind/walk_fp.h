/* SPDX-License-Identifier: MIT
 *
 * The frame-pointer walker (JP_STACK=fp).
 * Runs in: handler. */
#ifndef JP_WALK_FP_H
#define JP_WALK_FP_H

#include "walk.h"

/* Walks to the end.  The caller has set the bounds.  Returns why the walk
 * ended. */
enum jp_reason jp_walk_fp_sig(struct jp_walk *walk);

#endif
