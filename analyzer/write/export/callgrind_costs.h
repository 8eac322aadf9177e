/* SPDX-License-Identifier: MIT
 *
 * What a callgrind profile has costs of: places, and calls from there.
 *
 * A log can have millions of different calls.  They are collected by ranges of
 * contexts, so many at once as fit into a bounded amount of memory; each range
 * goes through all stacks again.
 * Runs in: analyzer. */
#ifndef JR_CALLGRIND_COSTS_H
#define JR_CALLGRIND_COSTS_H

#include "base/index.h"
#include "export.h"

#define JR_NO_CALLEE UINT32_MAX

/* What is spent at a place, or in a call from there.  A context is a function,
 * twice its number, or NAME'2, one more. */
struct jr_cost {
    uint32_t context, place, callee; /* a context, or JR_NO_CALLEE */
    uint64_t cpu_ns, weight_ns, samples;
};

struct jr_costs {
    const struct jr_model *model;
    int is_real;
    uint32_t contexts; /* how many there are */
    uint32_t from, to; /* those whose costs are collected: the last not */
    struct jr_cost *items;
    size_t count, room;
    size_t most; /* items that are held at once, where they are of more than one
                    context */
    struct jr_index by_call;
    struct jr_cost *roots; /* by context: of stacks that begin there */
    uint32_t *of_nodes;    /* by node: its context */
    uint32_t *stamps; /* by context: the leaf that has counted it, plus one */
};

void jr_costs_open(struct jr_costs *costs, const struct jr_model *model);
void jr_costs_close(struct jr_costs *costs);

/* Collects the costs of the next contexts, in order of context and place, a
 * place's own cost before those of its calls.  Returns 0 after the last ones.
 * From the first time on, the costs of roots are there. */
int jr_costs_next(struct jr_costs *costs);

#endif
