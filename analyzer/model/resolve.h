/* SPDX-License-Identifier: MIT
 *
 * Stacks of one run to nodes of the model's tree.  A place is looked up once,
 * and a call becomes a node once, until a sample lies outside the time for
 * which the answer holds: work grows with what is new in a stack.
 * Runs in: analyzer. */
#ifndef JR_RESOLVE_H
#define JR_RESOLVE_H

#include "model.h"

/* What a stack is.  There may be one for each sample, so it is small. */
struct jr_stack_answer {
    uint64_t from_ns, until_ns; /* when this holds: [from_ns, until_ns) */
    uint32_t node;              /* where it ends; 0: -e or -i drops it */
    uint32_t spot;              /* of the model's, or JR_NO_SPOT */
    uint32_t inlined : 29;
    uint32_t fiber : 1;       /* it ends with a fiber's first function */
    uint32_t bare : 1;        /* its leaf has no name, */
    uint32_t nameless : 1;    /* nor has who called that */
    uint16_t frames, unnamed; /* these and the next without those that were
                                 inlined */
    uint16_t lines, jit, jit_named, jit_late;
};

struct jr_resolver;

/* Of the process that was added to the model last; never NULL.  The run's
 * stacks must outlive it. */
struct jr_resolver *jr_resolver_new(struct jr_model *model);
void jr_resolver_free(struct jr_resolver *resolver);

/* Resolves the sample's stack at its time. */
void jr_resolve(struct jr_resolver *resolver, const struct jr_sample *sample,
                struct jr_stack_answer *answer);

#endif
