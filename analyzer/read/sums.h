/* SPDX-License-Identifier: MIT
 *
 * What the samples of each stack of a run amount to, for reports that ask for
 * neither thread nor time of single ones: memory grows with stacks.
 * Runs in: analyzer. */
#ifndef JR_SUMS_H
#define JR_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"

/* Samples with one stack, event and reason. */
struct jr_sum {
    uint64_t weight_ns;
    uint64_t first_ns, last_ns; /* their earliest and latest time */
    uint64_t samples : 48;      /* how many there are */
    uint64_t event : 8, reason : 8;
    uint32_t stack; /* of the run's */
    uint32_t next;  /* another sum of this stack; 0: none, as [0] is the first
                      of its own */
};

/* All zero is empty. */
struct jr_sums {
    struct jr_sum *items; /* in the order of their first samples in the file */
    size_t count, room;
    uint32_t *heads; /* by stack: its first sum, plus one; 0: none */
    size_t heads_room;
    struct jr_table tids; /* the threads that have samples */
    uint32_t tid;         /* the last one; valid with any item */
};

/* Prefetches what the first sum of a stack is found by, and then that sum. */
void jr_sums_prefetch(const struct jr_sums *sums, uint32_t stack);
void jr_sums_prefetch_first(const struct jr_sums *sums, uint32_t stack);

/* Adds one sample of a thread: a sum of its own, with `next` 0. */
void jr_sums_add(struct jr_sums *sums, const struct jr_sum *sample,
                 uint32_t tid);
void jr_sums_free(struct jr_sums *sums);

#endif
