/* SPDX-License-Identifier: MIT
 *
 * The samples of a model one by one, and when they were on one time line of all
 * processes.
 * Runs in: analyzer. */
#ifndef JR_ORDER_H
#define JR_ORDER_H

#include "model/again/again.h"
#include "write/report.h"

struct jr_order {
    uint64_t *zero;         /* by process: the CLOCK_MONOTONIC time that is the
                               profile's zero */
    struct jr_again *again; /* jr_again_thread and _process begin with one */
};

/* sequence: as of jr_again_begin.  Freed with jr_order_free, which warns where
 * the logs were not any more what they had been. */
void jr_order_make(const struct jr_model *model, const uint32_t *sequence,
                   struct jr_order *order);
void jr_order_free(const struct jr_report *report, struct jr_order *order);

/* Nanoseconds from the profile's start to a time of a process; 0 for what was
 * before it. */
static inline uint64_t jr_order_since(const struct jr_order *order,
                                      uint32_t process, uint64_t time_ns)
{
    const uint64_t zero = order->zero[process];

    return (int64_t)(time_ns - zero) > 0 ? time_ns - zero : 0;
}

#endif
