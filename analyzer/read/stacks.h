/* SPDX-License-Identifier: MIT
 *
 * The distinct stacks of a run: equal stacks of different chunks become one.
 * Runs in: analyzer. */
#ifndef JR_STACKS_H
#define JR_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"

#define JR_STACK_DEPTH_MAX 4096        /* frames of one stack (FORMAT.md) */
#define JR_STACK_FRAMES_MAX (1U << 27) /* frames of all stacks: 1 GiB */

#define JR_STACK_NONE UINT32_MAX

/* Finds stacks by content; zero is an empty one. */
struct jr_stack_table {
    uint32_t *slots;  /* index into the run's stacks, JR_STACK_NONE: free */
    uint32_t *hashes; /* of the run's stacks, by index */
    size_t nslots, hashes_room;
};

/* Returns the index of the stack with these frames in `run`, adding it when
 * it is new; 0 for depth 0.  JR_STACK_NONE when the run holds as many frames
 * as it may.  Depth is at most JR_STACK_DEPTH_MAX. */
uint32_t jr_stack_add(struct jr_stack_table *table, struct jr_run *run,
                      const uint64_t *frames, uint32_t depth, uint32_t gap);
void jr_stack_table_free(struct jr_stack_table *table);

#endif
