/* SPDX-License-Identifier: MIT
 *
 * Profiles from jprof-report into the spool.
 * Runs in: launcher. */
#ifndef JL_PARTS_H
#define JL_PARTS_H

#include "spool.h"

/* What was put into the spool. */
struct jl_parts {
    size_t messages;
    size_t lost;              /* messages that the spool could not keep */
    uint64_t cpu_ns, wall_ns; /* that they stand for */
    uint64_t bytes;
    uint64_t cut_ns;   /* that are missing: a ring was overwritten */
    uint64_t until_ns; /* the last moment of them, CLOCK_REALTIME */
};

/* Runs the reporter with `options` (NULL at the end) on `operands` (likewise)
 * and puts what it gives into the spool.  `folder`: the working directory, -1:
 * as it is.  quiet: its stderr is not shown.  Returns the reporter's status,
 * or JR_FAILED when what it gave was not whole: what was whole is in the
 * spool. */
int jl_parts_make(struct jl_parts *parts, const char *reporter, int folder,
                  char *const *options, char *const *operands, int quiet,
                  const struct jl_destination *to, struct jl_spool *spool);

#endif
