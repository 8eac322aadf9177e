/* SPDX-License-Identifier: MIT
 *
 * The life of executable mappings: what comes ends what was there.
 * Runs in: analyzer. */
#ifndef JR_MAPPINGS_H
#define JR_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

#include "map.h"

/* The mappings that live at one moment, by index, in order of address; they
 * do not overlap.  Zero is none. */
struct jr_live {
    size_t *indices;
    size_t count, room;
};

/* Ends what lives in [start, end) at `time_ns`.  A mapping that reaches out
 * of the range lives on in a copy for each part outside. */
void jr_mappings_unmap(struct jr_map *map, struct jr_live *live, uint64_t start,
                       uint64_t end, uint64_t time_ns);

/* Adds `mapping`, ending what it overlaps.  Takes its path over. */
void jr_mappings_add(struct jr_map *map, struct jr_live *live,
                     const struct jr_mapping *mapping);

#endif
