/* SPDX-License-Identifier: MIT
 *
 * What the kernel's clocks say.
 * Runs in: analyzer, launcher. */
#ifndef JR_CLOCK_H
#define JR_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t jr_now_ns(clockid_t clock)
{
    struct timespec now = {0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* For waits: no setting of the time of day changes it. */
static inline int64_t jr_now_ms(void)
{
    return (int64_t)(jr_now_ns(CLOCK_MONOTONIC) / 1000000U);
}

#endif
