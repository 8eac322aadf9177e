/* SPDX-License-Identifier: MIT
 *
 * One sample on its way from the handler to the log; its stack is in the
 * buffer.
 * Runs in: everywhere (types only). */
#ifndef JP_SAMPLE_H
#define JP_SAMPLE_H

#include <stdint.h>

struct jp_sample {
    uint64_t time_ns, weight_ns;
    uint32_t tid;
    uint8_t event;  /* enum jp_event */
    uint8_t reason; /* enum jp_reason */
};

#endif
