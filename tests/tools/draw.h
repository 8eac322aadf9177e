/* SPDX-License-Identifier: MIT
 *
 * Pseudo-random numbers for the tools that make logs: the same ones each time.
 * Runs in: tests, bench. */
#ifndef TOOLS_DRAW_H
#define TOOLS_DRAW_H

#include <stdint.h>

/* A number below `limit`.  *random is not 0, and changes (Marsaglia's
 * xorshift). */
static inline uint32_t draw_below(uint64_t *random, uint32_t limit)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    *random ^= *random << 17;
    return (uint32_t)((*random >> 32) * limit >> 32);
}

#endif
