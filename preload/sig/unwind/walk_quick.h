/* SPDX-License-Identifier: MIT
 *
 * The quick part of the hybrid walker.
 * Runs in: handler. */
#ifndef JP_WALK_QUICK_H
#define JP_WALK_QUICK_H

#include "cfi/cfi_run.h"
#include "walk_frame.h"

/* Goes on from a frame and its rule as long as frames are simple and their
 * rules are cached.  Sets *frame to where that ends; returns GOING with its
 * rule, LOOKUP without, or JP_REASON_DEPTH.  For a sure stack, without
 * `follow`. */
int jp_walk_quick_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                      struct jp_cfi_rule *rule);

#endif
