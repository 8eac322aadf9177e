/* SPDX-License-Identifier: MIT
 *
 * Sums of weights, which are nanoseconds.
 * Runs in: analyzer. */
#ifndef JR_WEIGHT_H
#define JR_WEIGHT_H

#include <stdint.h>

/* Adds without wrapping around (weights come from untrusted files). */
static inline uint64_t jr_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

#endif
