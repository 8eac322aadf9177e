/* SPDX-License-Identifier: MIT
 *
 * The hybrid walker (JP_STACK=auto, cfi).
 * Runs in: handler. */
#ifndef JP_WALK_CFI_H
#define JP_WALK_CFI_H

#include "walk.h"

/* Walks to the end.  The caller has set the bounds.  Returns why the walk
 * ended. */
enum jp_reason jp_walk_cfi_sig(struct jp_walk *walk);

#endif
