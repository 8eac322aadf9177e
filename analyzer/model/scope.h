/* SPDX-License-Identifier: MIT
 *
 * The parts of a report, and what their stacks weigh.
 * Runs in: analyzer. */
#ifndef JR_SCOPE_H
#define JR_SCOPE_H

#include "model.h"

enum jr_scope { JR_SCOPE_ALL, JR_SCOPE_PROCESS, JR_SCOPE_THREAD };

/* The extent of a part. */
struct jr_scope_key {
    enum jr_scope scope;
    uint32_t process; /* unless JR_SCOPE_ALL */
    uint32_t bucket;  /* with JR_SCOPE_THREAD */
    uint32_t tid;     /* with JR_SCOPE_THREAD */
    uint64_t weight_ns, samples;
    const char *name; /* of the thread; NULL: not known */
};

/* The parts of a report, in its order: with by_thread one a thread,
 * heaviest first within its process, else one a process; before them, unless
 * there is one only, everything.  (Without threads, of a profile of one
 * process, everything alone.)  Returns an array of *count, which the caller
 * frees. */
struct jr_scope_key *jr_parts_list(const struct jr_model *model, size_t *count);

/* Gives `count` threads, those of a process in a row, the names that
 * they had last; NULL: none. */
void jr_part_name_threads(const struct jr_model *model,
                          struct jr_scope_key *keys, size_t count);

/* A key for each bucket of the model, in their order, without names;
 * `keys` has room for model->nbuckets. */
void jr_part_buckets(const struct jr_model *model, struct jr_scope_key *keys);

/* The leaves of a part, which stand together: *count of them. */
const struct jr_leaf *jr_part_leaves(const struct jr_model *model,
                                     const struct jr_scope_key *key,
                                     size_t *count);

/* Self weights by node for `key`: an array of model->nodes.count that
 * the caller frees. */
uint64_t *jr_part_weights(const struct jr_model *model,
                          const struct jr_scope_key *key);

#endif
