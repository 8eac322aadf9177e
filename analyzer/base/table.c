/* SPDX-License-Identifier: MIT
 *
 * Keys and values of the table of pairs.
 * Runs in: analyzer. */
#include "table.h"

#include <stdlib.h>

#include "base/mem.h"

uint32_t jr_table_put(struct jr_table *table, uint64_t a, uint64_t b,
                      uint32_t fresh)
{
    const uint32_t hash = jr_hash(a, b);
    size_t at = hash;
    uint32_t key;

    while ((key = jr_index_next(&table->index, hash, &at)) != JR_NO_ITEM)
        if (table->keys[key].a == a && table->keys[key].b == b)
            return table->values[key];
    jr_index_add(&table->index, hash, (uint32_t)table->used);
    table->values = jr_grow(table->values, table->used, &table->values_room,
                            sizeof(*table->values));
    table->values[table->used] = fresh;
    *JR_PUSH(table->keys, table->used, table->keys_room) =
        (struct jr_key){a, b};
    return fresh;
}

void jr_table_free(struct jr_table *table)
{
    jr_index_free(&table->index);
    free(table->keys);
    free(table->values);
    *table = (struct jr_table){0};
}
