/* SPDX-License-Identifier: MIT
 *
 * The moments of threads that are in spans of given names.
 * Runs in: analyzer. */
#ifndef JR_INSIDE_H
#define JR_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "read/run.h"

/* Spans of some names in the threads of one run. */
struct jr_inside {
    struct jr_stretch *items; /* by tid, then time; none overlap */
    size_t count, room;
};

/* Finds the spans that have one of `count` names, in the whole run. */
void jr_inside_find(struct jr_inside *inside, const struct jr_run *run,
                    const char *const *names, size_t count, uint64_t last_ns);
void jr_inside_free(struct jr_inside *inside);

/* Whether a moment of a thread is in one of them: [begin, end). */
int jr_inside_has(const struct jr_inside *inside, uint32_t tid,
                  uint64_t time_ns);

#endif
