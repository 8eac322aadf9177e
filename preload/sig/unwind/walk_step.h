/* SPDX-License-Identifier: MIT
 *
 * One step of the hybrid walker.
 * Runs in: handler. */
#ifndef JP_WALK_STEP_H
#define JP_WALK_STEP_H

#include "cfi/cfi_run.h"
#include "walk_frame.h"

/* Goes from a frame to its caller by a rule.  Makes no system call but by
 * walk->process.  Returns JP_WALK_GOING, JP_WALK_AGAIN, or why the walk ends. */
int jp_walk_step_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     const struct jp_cfi_rule *rule);

#endif
