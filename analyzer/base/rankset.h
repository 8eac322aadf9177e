/* SPDX-License-Identifier: MIT
 *
 * A set of numbers below a fixed limit that finds neighbours fast.
 * Runs in: analyzer. */
#ifndef JR_RANKSET_H
#define JR_RANKSET_H

#include <stddef.h>
#include <stdint.h>

#define JR_RANK_NONE SIZE_MAX
#define JR_RANK_LEVELS 7 /* of 6 bits each: up to 2^42 numbers */

struct jr_rankset {
    uint64_t *levels[JR_RANK_LEVELS]; /* bit n of a level is set when word n
                                         of the level below is not 0 */
    size_t nlevels;
    size_t limit;
};

/* Makes an empty set of numbers in [0, limit); freed by jr_rankset_free. */
void jr_rankset_init(struct jr_rankset *set, size_t limit);
void jr_rankset_free(struct jr_rankset *set);

void jr_rankset_add(struct jr_rankset *set, size_t number);
void jr_rankset_remove(struct jr_rankset *set, size_t number);

/* The lowest member at or above `from`, or JR_RANK_NONE. */
size_t jr_rankset_next(const struct jr_rankset *set, size_t from);

/* The highest member below `limit`, or JR_RANK_NONE. */
size_t jr_rankset_before(const struct jr_rankset *set, size_t limit);

#endif
