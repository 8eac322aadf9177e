/* SPDX-License-Identifier: MIT
 *
 * Ranges of addresses, each for a time, and which of them holds an address
 * then.  The work grows with the logarithm of how many there are, however
 * often an address was used again.
 * Runs in: analyzer. */
#ifndef JR_RANGES_H
#define JR_RANGES_H

#include <stddef.h>
#include <stdint.h>

#define JR_NO_RANGE UINT32_MAX

/* [start, end) from one time to another.  Ranges that share an address share
 * no time. */
struct jr_range {
    uint64_t start, end;
    uint64_t from_ns, until_ns; /* [from_ns, until_ns) */
    uint32_t index;             /* what it is, to the caller */
};

/* What holds an address at a time. */
struct jr_range_answer {
    uint32_t live;  /* the index of the range; JR_NO_RANGE: none does, */
    uint32_t later; /* and the first that does so afterwards */
    uint64_t from_ns, until_ns; /* when both are the answer */
};

/* Ranges of one node of a tree over the address space, by time. */
struct jr_range_node {
    uint32_t first, count; /* indices into jr_ranges.order */
    uint32_t last; /* how many began by the time that was asked for last */
};

/* Fill `items` with JR_PUSH, then call jr_ranges_build; zero is empty. */
struct jr_ranges {
    struct jr_range *items;
    size_t count, room;
    uint64_t *bounds; /* where ranges start or end, in order */
    size_t nbounds;
    struct jr_range_node *nodes; /* [1] is the root; its leaves are what lies
                                    between two bounds */
    size_t leaves;               /* a power of two */
    uint32_t *order;
};

void jr_ranges_build(struct jr_ranges *ranges);
void jr_ranges_find(const struct jr_ranges *ranges, uint64_t address,
                    uint64_t time_ns, struct jr_range_answer *answer);
void jr_ranges_free(struct jr_ranges *ranges);

#endif
