/* SPDX-License-Identifier: MIT
 *
 * Numbers of several distributions, from 64 random bits.  Pure functions.
 * Runs in: handler. */
#ifndef JP_RANDOM_H
#define JP_RANDOM_H

#include <stdint.h>

/* A hash of `value`: the same for the same value. */
uint64_t jp_random_hash_sig(uint64_t value);

/* A number from 1 to `most`. */
static inline uint64_t jp_random_below_sig(uint64_t random, uint64_t most)
{
    return random % most + 1;
}

/* A number of the exponential distribution, whose mean is `mean`, below 2^43;
 * at most 23 times as much, and at least 1. */
uint64_t jp_random_exponential_sig(uint64_t random, uint64_t mean);

#endif
