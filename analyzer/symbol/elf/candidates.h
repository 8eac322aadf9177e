/* SPDX-License-Identifier: MIT
 *
 * Symbols as they were found, before the choice between those of one place.
 * Runs in: analyzer. */
#ifndef JR_CANDIDATES_H
#define JR_CANDIDATES_H

#include <stddef.h>
#include <stdint.h>

struct jr_candidate {
    uint64_t start, size;
    uint64_t section_end;
    const char *name;
    uint8_t binding; /* STB_* */
};

struct jr_candidates {
    struct jr_candidate *items;
    size_t count, room;
};

#endif
