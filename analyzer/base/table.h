/* SPDX-License-Identifier: MIT
 *
 * A hash table from a pair of integers to an index.
 * Runs in: analyzer. */
#ifndef JR_TABLE_H
#define JR_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/index.h"

struct jr_key {
    uint64_t a, b;
};

/* All zero is an empty table. */
struct jr_table {
    struct jr_index index;
    struct jr_key *keys; /* in the order in which they came */
    uint32_t *values;
    size_t used, keys_room, values_room;
};

/* Looks (a, b) up; when it is not there, adds it with the value `fresh`.
 * Returns the value: it equals `fresh` exactly when the pair is new, provided
 * that no stored value does.  Values are below UINT32_MAX. */
uint32_t jr_table_put(struct jr_table *table, uint64_t a, uint64_t b,
                      uint32_t fresh);
void jr_table_free(struct jr_table *table);

#endif
