/* SPDX-License-Identifier: MIT
 *
 * Growing the hash table.
 * Runs in: analyzer. */
#include "index.h"

#include <stdlib.h>

#include "mem.h"

#define FIRST_ROOM 64

static void insert(struct jr_index_place *places, size_t room,
                   struct jr_index_place place)
{
    size_t at = place.hash & (room - 1);

    while (places[at].item != 0)
        at = (at + 1) & (room - 1);
    places[at] = place;
}

static void widen(struct jr_index *index)
{
    size_t room = index->room ? index->room * 2 : FIRST_ROOM;
    struct jr_index_place *places = jr_alloc(room, sizeof(*places));

    for (size_t i = 0; i < index->room; i++) {
        if (index->places[i].item != 0)
            insert(places, room, index->places[i]);
    }
    free(index->places);
    index->places = places;
    index->room = room;
}

void jr_index_add(struct jr_index *index, uint32_t hash, uint32_t item)
{
    if (index->used >= index->room / 4 * 3)
        widen(index);
    insert(index->places, index->room, (struct jr_index_place){hash, item + 1});
    index->used++;
}

void jr_index_free(struct jr_index *index)
{
    free(index->places);
    *index = (struct jr_index){0};
}
