/* SPDX-License-Identifier: MIT
 *
 * A hash table from a pair of integers to an index: open addressing, at most
 * half full.
 * Runs in: analyzer. */
#include "table.h"

#include <stdlib.h>

#include "../base/mem.h"

#define FIRST_ROOM 64

struct jr_slot {
    uint64_t a, b;
    uint64_t value;   /* plus one; 0: free */
};

static size_t hash(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15ULL ^ (b + 0x7f4a7c15ULL);

    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 29;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 32;
    return (size_t)x;
}

static struct jr_slot *find(const struct jr_table *table, uint64_t a,
                            uint64_t b)
{
    size_t mask = table->room - 1;
    size_t at = hash(a, b) & mask;

    while (table->slots[at].value != 0 &&
           (table->slots[at].a != a || table->slots[at].b != b))
        at = (at + 1) & mask;
    return &table->slots[at];
}

static void widen(struct jr_table *table)
{
    struct jr_table wide = {.used = table->used};

    wide.room = table->room ? table->room * 2 : FIRST_ROOM;
    wide.slots = jr_alloc(wide.room, sizeof(*wide.slots));
    for (size_t i = 0; i < table->room; i++)
        if (table->slots[i].value != 0)
            *find(&wide, table->slots[i].a, table->slots[i].b) =
                table->slots[i];
    free(table->slots);
    *table = wide;
}

uint32_t jr_table_put(struct jr_table *table, uint64_t a, uint64_t b,
                      uint32_t fresh)
{
    struct jr_slot *slot;

    if (table->used >= table->room / 2)
        widen(table);
    slot = find(table, a, b);
    if (slot->value == 0) {
        slot->a = a;
        slot->b = b;
        slot->value = (uint64_t)fresh + 1;
        table->used++;
    }
    return (uint32_t)(slot->value - 1);
}

void jr_table_free(struct jr_table *table)
{
    free(table->slots);
    *table = (struct jr_table){0};
}
