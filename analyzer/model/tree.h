/* SPDX-License-Identifier: MIT
 *
 * Functions, their tiers and the calls between them.
 * Runs in: analyzer. */
#ifndef JR_MODEL_TREE_H
#define JR_MODEL_TREE_H

#include "model.h"

/* The tier of a frame, its function being part of the model then; finds
 * the arcs and what each node is the first of, once all nodes are there. */
uint32_t jr_tree_tier(struct jr_model *model, const struct jr_frame *frame);
void jr_tree_finish(struct jr_model *model);

#endif
