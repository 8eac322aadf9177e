/* SPDX-License-Identifier: MIT
 *
 * Puts samples in order of time.
 * Runs in: analyzer. */
#ifndef JR_SORT_H
#define JR_SORT_H

#include <stddef.h>

#include "log.h"

/* Sorts `count` samples by time_ns; equal times keep their order.  Costs one
 * pass for samples already in order, and little more for those of a few
 * threads whose chunks alternate in the file. */
void jr_sort_samples(struct jr_sample *samples, size_t count);

#endif
