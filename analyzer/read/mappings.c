/* SPDX-License-Identifier: MIT
 *
 * Mappings in time, from events in order of time.
 * Runs in: analyzer. */
#include "mappings.h"

#include <string.h>

#include "base/mem.h"
#include "base/search.h"

/* The place in `live` of the first mapping that ends after `address`. */
static size_t place_of(const struct jr_mappings *mappings,
                       const struct jr_live *live, uint64_t address)
{
    return JR_FIRST_NOT(live->count, i,
                        mappings->items[live->indices[i]].end <= address);
}

static void insert(struct jr_mappings *mappings, struct jr_live *live,
                   const struct jr_mapping *mapping)
{
    size_t place = place_of(mappings, live, mapping->start);

    live->indices =
        jr_grow(live->indices, live->count, &live->room, sizeof *live->indices);
    memmove(live->indices + place + 1, live->indices + place,
            (live->count - place) * sizeof *live->indices);
    live->indices[place] = mappings->count;
    live->count++;
    *JR_PUSH(mappings->items, mappings->count, mappings->room) = *mapping;
}

/* Adds a copy of `old` for its part [start, end), which stays mapped at
 * `time_ns`. */
static void keep_part(struct jr_mappings *mappings, struct jr_live *live,
                      const struct jr_mapping *old, uint64_t start,
                      uint64_t end)
{
    struct jr_mapping part = *old;

    part.start = start;
    part.end = end;
    part.offset += start - old->start;
    part.from_ns = old->until_ns;
    part.until_ns = UINT64_MAX;
    part.path = jr_strdup(old->path);
    insert(mappings, live, &part);
}

void jr_mappings_unmap(struct jr_mappings *mappings, struct jr_live *live,
                       uint64_t start, uint64_t end, uint64_t time_ns)
{
    size_t place = place_of(mappings, live, start), last = place;
    struct jr_mapping below = {0}, above = {0};

    while (last < live->count) {
        struct jr_mapping *old = &mappings->items[live->indices[last]];

        if (old->start >= end)
            break;
        old->until_ns = time_ns;
        if (old->start < start)
            below = *old;
        if (old->end > end)
            above = *old;
        last++;
    }
    if (last == place)
        return;
    memmove(live->indices + place, live->indices + last,
            (live->count - last) * sizeof *live->indices);
    live->count -= last - place;
    if (below.path)
        keep_part(mappings, live, &below, below.start, start);
    if (above.path)
        keep_part(mappings, live, &above, end, above.end);
}

void jr_mappings_add(struct jr_mappings *mappings, struct jr_live *live,
                     const struct jr_mapping *mapping)
{
    jr_mappings_unmap(mappings, live, mapping->start, mapping->end,
                      mapping->from_ns);
    insert(mappings, live, mapping);
}
