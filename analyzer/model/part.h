/* SPDX-License-Identifier: MIT
 *
 * Parts of a report: the profile of everything, of one process or of one
 * thread, with callers and callees.
 * Runs in: analyzer. */
#ifndef JR_PART_H
#define JR_PART_H

#include "model.h"

/* A caller or callee of a function. */
struct jr_link {
    uint32_t row;       /* into jr_part.rows */
    uint64_t weight_ns; /* of stacks that hold the call, once a stack */
};

/* What a function weighs in one of its tiers. */
struct jr_part_tier {
    uint32_t tier; /* into jr_model.tiers */
    uint64_t self_ns, total_ns;
};

struct jr_row {
    uint32_t function;
    uint64_t self_ns;         /* "Count": it is the leaf */
    uint64_t total_ns;        /* "Hits": it is on the stack, once a stack */
    size_t callers, ncallers; /* slice of jr_part.links, heaviest first (as
                                 far as jr_part_build_for was asked) */
    size_t callees, ncallees;
    size_t tiers, ntiers; /* slice of jr_part.tiers, by descending self,
                                   then total; empty when none has a word */
};

struct jr_part {
    uint64_t weight_ns, samples;
    struct jr_row *rows; /* by descending total; without one, self */
    size_t nrows;
    size_t nshown;     /* those before it are listed, the rest is summed up, */
    uint64_t least_ns; /* as are lighter links; 0: none */
    uint32_t *flat;    /* rows with a self weight, by descending self */
    size_t nflat;
    struct jr_link *links;
    size_t nlinks;
    struct jr_part_tier *tiers;
    size_t ntiers;
};

#endif
