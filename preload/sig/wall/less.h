/* SPDX-License-Identifier: MIT
 *
 * The lesser of two times.
 * Runs in: handler. */
#ifndef JP_LESS_H
#define JP_LESS_H

#include <stdint.h>

static inline uint64_t jp_less_sig(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif
