/* SPDX-License-Identifier: MIT
 *
 * Which addresses of an ELF file its bytes have in memory.
 * Runs in: analyzer. */
#ifndef JR_SEGMENTS_H
#define JR_SEGMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "read/map.h"

struct jr_segment {
    uint64_t offset, size; /* in the file */
    uint64_t address;      /* ELF address of its first byte */
    uint8_t code;
};

struct jr_segments {
    struct jr_segment *items; /* freed by the owner */
    size_t count, room;
};

/* Sets *elf_address to what the file calls the `address` that a mapping of it
 * holds.  Returns 0, or -1 when no segment has it. */
int jr_segments_address(const struct jr_segments *segments,
                        const struct jr_mapping *mapping, uint64_t address,
                        uint64_t *elf_address);

#endif
