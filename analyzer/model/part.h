/* SPDX-License-Identifier: MIT
 *
 * Parts of a report: the profile of everything, of one process or of one
 * thread, with callers and callees.
 * Runs in: analyzer. */
#ifndef JR_PART_H
#define JR_PART_H

#include "model.h"

enum jr_scope { JR_SCOPE_ALL, JR_SCOPE_PROCESS, JR_SCOPE_THREAD };

/* What a part covers. */
struct jr_scope_key {
    enum jr_scope scope;
    uint32_t process;       /* unless JR_SCOPE_ALL */
    uint32_t bucket;        /* with JR_SCOPE_THREAD */
    uint32_t tid;           /* with JR_SCOPE_THREAD */
    uint64_t weight_ns, samples;
};

/* The parts of a report, in its order: with by_thread one a thread, heaviest
 * first within its process; else everything, and when there are several
 * processes one each.  Returns an array of *count, which the caller frees. */
struct jr_scope_key *jr_parts_list(const struct jr_model *model,
                                   size_t *count);

/* A caller or callee of a function. */
struct jr_link {
    uint32_t row;           /* into jr_part.rows */
    uint64_t weight_ns;     /* of stacks that hold the call, once a stack */
};

struct jr_row {
    uint32_t function;
    uint64_t self_ns;       /* "Count": it is the leaf */
    uint64_t total_ns;      /* "Hits": it is on the stack, once a stack */
    size_t callers, ncallers;   /* slice of jr_part.links, heaviest first */
    size_t callees, ncallees;
};

struct jr_part {
    uint64_t weight_ns, samples;
    struct jr_row *rows;    /* by descending total */
    size_t nrows;
    uint32_t *flat;         /* rows with a self weight, by descending self */
    size_t nflat;
    struct jr_link *links;
    size_t nlinks;
};

/* Builds the part; the caller frees it with jr_part_free. */
void jr_part_build(const struct jr_model *model,
                   const struct jr_scope_key *key, struct jr_part *part);
void jr_part_free(struct jr_part *part);

/* Self weights by node for `key`: an array of model->nnodes that the caller
 * frees. */
uint64_t *jr_part_weights(const struct jr_model *model,
                          const struct jr_scope_key *key);

#endif
