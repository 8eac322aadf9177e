/* SPDX-License-Identifier: MIT
 *
 * The kept samples of a model, thread by thread, and when they were on one
 * time line of all processes.
 * Runs in: analyzer. */
#ifndef JR_ORDER_H
#define JR_ORDER_H

#include "model/model.h"

/* items[first[i]] to items[first[i + 1] - 1] are the samples of the model's
 * thread i, in order of time, as indices into model->seen. */
struct jr_order {
    uint32_t *items;
    size_t *first;  /* model->nthreads + 1 of them */
    uint64_t *zero; /* by process: the CLOCK_MONOTONIC time that is the
                       profile's zero */
};

/* Only the zeros, which the caller frees. */
uint64_t *jr_order_zeros(const struct jr_model *model);

/* Takes 4 bytes a sample; freed with jr_order_free. */
void jr_order_make(const struct jr_model *model, struct jr_order *order);
void jr_order_free(struct jr_order *order);

/* Nanoseconds from the profile's start to a time of a process; 0 for what was
 * before it. */
static inline uint64_t jr_order_since(const struct jr_order *order,
                                      uint32_t process, uint64_t time_ns)
{
    const uint64_t zero = order->zero[process];

    return (int64_t)(time_ns - zero) > 0 ? time_ns - zero : 0;
}

#endif
