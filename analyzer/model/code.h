/* SPDX-License-Identifier: MIT
 *
 * The pieces of JIT code that make up a function, with what was sampled at
 * each of their addresses.
 * Runs in: analyzer. */
#ifndef JR_CODE_H
#define JR_CODE_H

#include "model.h"
#include "symbol/find_code.h"

struct jr_code_hit {
    uint64_t address;
    uint64_t weight_ns;
};

/* One piece of code: a function compiled anew or moved has several. */
struct jr_code_version {
    struct jr_jit_code code;
    uint32_t process, tier;
    uint64_t weight_ns, samples;
    const struct jr_code_hit *hits; /* by rising address */
    size_t nhits;
};

struct jr_code_view {
    struct jr_code_version *versions; /* heaviest first */
    size_t nversions, versions_room;
    struct jr_code_hit *hits;
    size_t nhits;
    uint64_t weight_ns; /* of all versions */
};

/* The pieces of code of `function` that were sampled.  The caller frees *view
 * with jr_code_free. */
void jr_code_build(const struct jr_model *model, uint32_t function,
                   struct jr_code_view *view);
void jr_code_free(struct jr_code_view *view);

/* The functions whose JIT code was sampled most, heaviest first: an array of
 * *count, at most `most`, that the caller frees. */
uint32_t *jr_code_hottest(const struct jr_model *model, size_t most,
                          size_t *count);

#endif
