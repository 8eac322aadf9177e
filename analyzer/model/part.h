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
    uint32_t process; /* unless JR_SCOPE_ALL */
    uint32_t bucket;  /* with JR_SCOPE_THREAD */
    uint32_t tid;     /* with JR_SCOPE_THREAD */
    uint64_t weight_ns, samples;
    const char *name; /* of the thread; NULL: not known */
};

/* scope.c: the parts of a report, in its order: with by_thread one a thread,
 * heaviest first within its process, else one a process; before them, unless
 * there is one only, everything.  (Without threads, of a profile of one
 * process, everything alone.)  Returns an array of *count, which the caller
 * frees. */
struct jr_scope_key *jr_parts_list(const struct jr_model *model, size_t *count);

/* scope.c: gives `count` threads, those of a process in a row, the names that
 * they had last; NULL: none. */
void jr_part_name_threads(const struct jr_model *model,
                          struct jr_scope_key *keys, size_t count);

/* scope.c: a key for each bucket of the model, in their order, without names;
 * `keys` has room for model->nbuckets. */
void jr_part_buckets(const struct jr_model *model, struct jr_scope_key *keys);

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

/* Builds the part, all of it to be shown; the caller frees it with
 * jr_part_free. */
void jr_part_build(const struct jr_model *model, const struct jr_scope_key *key,
                   struct jr_part *part);

/* The same where only so many callers, and callees, of a function are asked
 * for: those behind them are in no order. */
#define JR_LINKS_ALL SIZE_MAX
void jr_part_build_for(const struct jr_model *model,
                       const struct jr_scope_key *key, size_t links,
                       struct jr_part *part);
void jr_part_free(struct jr_part *part);

/* part_flat.c: the functions with a self weight only, by descending self, the
 * first `most` of them to be shown: no totals, callers and callees.  Costs as
 * much as the part has leaves, whatever else the model holds.  Freed
 * likewise. */
void jr_part_build_flat(const struct jr_model *model,
                        const struct jr_scope_key *key, uint64_t most,
                        struct jr_part *part);

/* part_flat.c: of a part with very many functions, leaves functions and calls
 * out that are on less than 0.01% of its stacks; not the heaviest call to a
 * function that stays. */
void jr_part_cut(struct jr_part *part);

/* part_flat.c: whether a caller or callee of the row is listed. */
int jr_part_lists(const struct jr_part *part, const struct jr_row *row,
                  const struct jr_link *link);

/* Functions that a part does not list. */
struct jr_rest {
    size_t count;
    uint64_t self_ns, most_ns; /* of all; the total of the heaviest */
};

/* part_flat.c: those that the hierarchical profile leaves out, and with `flat`
 * those of them that have a self weight; count 0: none. */
struct jr_rest jr_part_rest(const struct jr_part *part, int flat);

/* Orders two functions by name, module and tier. */
int jr_part_compare_functions(const struct jr_model *model, uint32_t a,
                              uint32_t b);

/* scope.c: the leaves of a part, which stand together: *count of them. */
const struct jr_leaf *jr_part_leaves(const struct jr_model *model,
                                     const struct jr_scope_key *key,
                                     size_t *count);

/* scope.c: self weights by node for `key`: an array of model->nodes.count that
 * the caller frees. */
uint64_t *jr_part_weights(const struct jr_model *model,
                          const struct jr_scope_key *key);

/* tiers.c: the tiers of the part's rows; `self` and `total` are the weights by
 * tier. */
void jr_part_add_tiers(const struct jr_model *model, struct jr_part *part,
                       const uint64_t *self, const uint64_t *total);

/* tiers.c: puts the tiers of a function in their order. */
void jr_part_sort_tiers(const struct jr_model *model,
                        struct jr_part_tier *tiers, size_t count);

/* tiers.c: for each node the first one whose functions are the same up to the
 * root, in whatever tiers: itself, or one before it.  An array of
 * model->nodes.count that the caller frees. */
uint32_t *jr_part_same_paths(const struct jr_model *model);

/* A word of a tier over all functions. */
struct jr_tier_sum {
    const char *word;
    uint64_t self_ns;
    size_t functions;
};

/* tiers.c: the self weight of each tier of the whole profile, by descending
 * weight.  An array of *count that the caller frees. */
struct jr_tier_sum *jr_part_tier_sums(const struct jr_model *model,
                                      size_t *count);

#endif
