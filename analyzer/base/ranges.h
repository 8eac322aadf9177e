/* SPDX-License-Identifier: MIT
 *
 * Ranges of addresses that may overlap, and which of them hold an address.
 * Runs in: analyzer. */
#ifndef JR_RANGES_H
#define JR_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct jr_range {
    uint64_t start, end; /* start < end */
    uint32_t index;      /* what it is, to the caller */
};

/* Fill `items` with JR_PUSH, then call jr_ranges_build; zero is empty. */
struct jr_ranges {
    struct jr_range *items;
    size_t count, room;
    uint64_t *ends; /* highest end below each node of a tree */
    size_t leaves;  /* its width, a power of two */
};

struct jr_indices {
    uint32_t *items;
    size_t count, room;
};

void jr_ranges_build(struct jr_ranges *ranges);

/* Sets *found to the indices of all ranges that hold `address`, in rising
 * order.  found->items is reused from call to call and freed by the caller. */
void jr_ranges_find(const struct jr_ranges *ranges, uint64_t address,
                    struct jr_indices *found);
void jr_ranges_free(struct jr_ranges *ranges);

#endif
