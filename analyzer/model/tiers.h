/* SPDX-License-Identifier: MIT
 *
 * Functions that a runtime compiled more than once, by tier.
 * Runs in: analyzer. */
#ifndef JR_TIERS_H
#define JR_TIERS_H

#include "part.h"

/* The tiers of the part's rows; `self` and `total` are the weights by
 * tier. */
void jr_part_add_tiers(const struct jr_model *model, struct jr_part *part,
                       const uint64_t *self, const uint64_t *total);

/* Puts the tiers of a function in their order. */
void jr_part_sort_tiers(const struct jr_model *model,
                        struct jr_part_tier *tiers, size_t count);

/* For each node the first one whose functions are the same up to the
 * root, in whatever tiers: itself, or one before it.  An array of
 * model->nodes.count that the caller frees. */
uint32_t *jr_part_same_paths(const struct jr_model *model);

/* A word of a tier over all functions. */
struct jr_tier_sum {
    const char *word;
    uint64_t self_ns;
    size_t functions;
};

/* The self weight of each tier of the whole profile, by descending
 * weight.  An array of *count that the caller frees. */
struct jr_tier_sum *jr_part_tier_sums(const struct jr_model *model,
                                      size_t *count);

#endif
