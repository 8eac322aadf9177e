/* SPDX-License-Identifier: MIT
 *
 * Which CPU time of a process is its own and which is its children's.
 * Runs in: analyzer. */
#ifndef JR_COVER_OWN_H
#define JR_COVER_OWN_H

#include "cover.h"

/* The launcher reads its children's times in clock ticks, two of them. */
#define TICKS_NS 20000000ULL
/* What a process's clock may show more than its waiter is told. */
#define INNER_NS 1000000ULL

static inline uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The CPU time of a process and of all that it waited for. */
uint64_t jr_cover_with_children(const struct jr_cover_process *process);

/* All CPU time of a process: by its own clock, or what its waiter was told and
 * is not its children's. */
uint64_t jr_cover_own(const struct jr_cover_process *process);

/* Takes the time of a tree's orphans off those that most likely waited for
 * them, as long as the launcher's word says that it is counted twice. */
void jr_cover_take_off_orphans(struct jr_cover *cover, uint32_t tree);

#endif
