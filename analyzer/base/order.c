/* SPDX-License-Identifier: MIT
 *
 * A radix sort: eleven bits a pass, and only the passes that the numbers'
 * differences need.
 * Runs in: analyzer. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

#define BITS 11
#define PLACES (1U << BITS)

/* Distributes `from` over `to` by the bits from `shift` on of what a number is
 * more than `least`. */
static void pass(const struct jr_ordered *from, struct jr_ordered *to,
                 size_t count, uint64_t least, unsigned shift)
{
    size_t starts[PLACES + 1] = {0};

    for (size_t i = 0; i < count; i++)
        starts[((from[i].value - least) >> shift & (PLACES - 1)) + 1]++;
    for (size_t i = 1; i < PLACES; i++)
        starts[i] += starts[i - 1];
    for (size_t i = 0; i < count; i++)
        to[starts[(from[i].value - least) >> shift & (PLACES - 1)]++] = from[i];
}

void jr_order(struct jr_ordered *items, size_t count)
{
    struct jr_ordered *room, *from = items, *to;
    uint64_t least = UINT64_MAX, most = 0;
    int sorted = 1;

    for (size_t i = 0; i < count; i++) {
        sorted &= items[i].value >= most;
        if (items[i].value < least)
            least = items[i].value;
        if (items[i].value > most)
            most = items[i].value;
    }
    if (sorted)
        return;
    room = to = jr_realloc(NULL, count, sizeof *room);
    for (unsigned shift = 0; shift < 64 && (most - least) >> shift;
         shift += BITS) {
        struct jr_ordered *swap = from;

        pass(from, to, count, least, shift);
        from = to;
        to = swap;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
    free(room);
}
