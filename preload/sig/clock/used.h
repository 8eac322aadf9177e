/* SPDX-License-Identifier: MIT
 *
 * What the calling thread has used of the CPU, by calls that a filter of the
 * program's may refuse.
 * Runs in: handler. */
#ifndef JP_USED_H
#define JP_USED_H

#include <stdint.h>

/* For a CPU time that the kernel does not tell. */
#define JP_USED_UNKNOWN UINT64_MAX

/* The CPU time, in ns. */
uint64_t jp_used_cpu_sig(void);

/* From one CPU time to another; 0 where it is not known. */
static inline uint64_t jp_used_since_sig(uint64_t now, uint64_t before)
{
    return now != JP_USED_UNKNOWN && now > before ? now - before : 0;
}

#endif
