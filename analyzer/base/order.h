/* SPDX-License-Identifier: MIT
 *
 * Puts numbers in order, in linear time: a large program has a million symbols.
 * Runs in: analyzer. */
#ifndef JR_ORDER_H
#define JR_ORDER_H

#include <stddef.h>
#include <stdint.h>

/* A number and the item that it belongs to. */
struct jr_ordered {
    uint64_t value;
    size_t index;
};

/* Sorts by value; equal ones stay in their order. */
void jr_order(struct jr_ordered *items, size_t count);

#endif
