/* SPDX-License-Identifier: MIT
 *
 * The pieces of code that a function is in, with what was sampled at each of
 * their addresses.
 * Runs in: analyzer. */
#ifndef JR_CODE_H
#define JR_CODE_H

#include "model.h"
#include "symbol/find_code.h"

struct jr_code_hit {
    uint64_t address; /* as the piece counts it */
    uint64_t weight_ns;
};

/* One piece of code: a function that was compiled anew, moved, or inlined into
 * others has several.  What processes have of one file is one. */
struct jr_code_version {
    struct jr_code_piece code;
    uint32_t process, tier; /* of the first sample; of the function */
    uint64_t weight_ns, samples;
    const struct jr_code_hit *hits; /* by rising address */
    size_t nhits;
};

/* Which hit a spot of the model is. */
struct jr_code_member {
    uint32_t spot, hit;
};

struct jr_code_view {
    uint32_t function;
    struct jr_code_version *versions; /* heaviest first */
    size_t nversions, versions_room;
    struct jr_code_hit *hits;
    size_t nhits;
    struct jr_code_member *members; /* one a spot, by rising hit */
    size_t nmembers;
    uint64_t weight_ns; /* of all versions */
    uint64_t self_ns;   /* of that, what is not of functions inlined into it */
};

/* Which spots the functions have. */
struct jr_codes;
struct jr_codes *jr_codes_new(const struct jr_model *model);
void jr_codes_free(struct jr_codes *codes);

/* The pieces of code of `function` that were sampled: where it was inlined,
 * those of the functions that have it, with what was sampled of it.  The caller
 * frees *view with jr_code_free. */
void jr_code_build(const struct jr_codes *codes, uint32_t function,
                   struct jr_code_view *view);
void jr_code_free(struct jr_code_view *view);

/* The functions whose code was sampled most, heaviest first, what was inlined
 * into them included: an array of *count that the caller frees. */
uint32_t *jr_code_hottest(const struct jr_codes *codes, size_t *count);

/* How many of the frames, innermost first, are of the function and of those
 * inlined into it; 0: it is none of them.  Of JIT code, all. */
size_t jr_code_depth(const struct jr_function *function,
                     const struct jr_frames *frames);

#endif
