/* SPDX-License-Identifier: MIT
 *
 * One sample on its way from the handler to the log.  Its stack is in the
 * thread's buffer.
 * Runs in: everywhere (types only). */
#ifndef JP_SAMPLE_H
#define JP_SAMPLE_H

#include <stdint.h>

struct jp_sample {
    uint64_t time_ns;   /* CLOCK_MONOTONIC */
    uint64_t weight_ns; /* time of the thread that the sample stands for */
    uint32_t tid;
    uint8_t event;  /* enum jp_event */
    uint8_t reason; /* enum jp_reason */
};

#endif
