/* SPDX-License-Identifier: MIT
 *
 * A hash table from a pair of integers to an index: open addressing, at most
 * three quarters full.  The keys stand apart, in the order in which they came:
 * places are many, and mostly passed over by their hash.
 * Runs in: analyzer. */
#include "table.h"

#include <stdlib.h>

#include "base/mem.h"

#define FIRST_ROOM 64

struct jr_key {
    uint64_t a, b;
};

struct jr_slot {
    uint32_t hash;
    uint32_t key; /* index plus one; 0: free */
};

static uint32_t hash_of(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15ULL ^ (b + 0x7f4a7c15ULL);

    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 29;
    x *= 0xd6e8feb86659fd93ULL;
    return (uint32_t)(x ^ x >> 32);
}

static void widen(struct jr_table *table)
{
    size_t room = table->room ? table->room * 2 : FIRST_ROOM;
    struct jr_slot *slots = jr_alloc(room, sizeof(*slots));

    for (size_t i = 0; i < table->room; i++) {
        size_t at = table->slots[i].hash & (room - 1);

        if (table->slots[i].key == 0)
            continue;
        while (slots[at].key != 0)
            at = (at + 1) & (room - 1);
        slots[at] = table->slots[i];
    }
    free(table->slots);
    table->slots = slots;
    table->room = room;
}

uint32_t jr_table_put(struct jr_table *table, uint64_t a, uint64_t b,
                      uint32_t fresh)
{
    uint32_t hash = hash_of(a, b);
    size_t at;

    if (table->used >= table->room / 4 * 3)
        widen(table);
    for (at = hash & (table->room - 1); table->slots[at].key != 0;
         at = (at + 1) & (table->room - 1)) {
        const struct jr_slot *slot = &table->slots[at];
        const struct jr_key *key = &table->keys[slot->key - 1];

        if (slot->hash == hash && key->a == a && key->b == b)
            return table->values[slot->key - 1];
    }
    table->slots[at] = (struct jr_slot){hash, (uint32_t)table->used + 1};
    table->values = jr_grow(table->values, table->used, &table->values_room,
                            sizeof(*table->values));
    table->values[table->used] = fresh;
    *JR_PUSH(table->keys, table->used, table->keys_room) =
        (struct jr_key){a, b};
    return fresh;
}

void jr_table_free(struct jr_table *table)
{
    free(table->slots);
    free(table->keys);
    free(table->values);
    *table = (struct jr_table){0};
}
