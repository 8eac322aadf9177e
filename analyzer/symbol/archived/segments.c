/* SPDX-License-Identifier: MIT
 *
 * From mappings to the addresses of a file, by its loadable segments.
 * Runs in: analyzer. */
#include "segments.h"

#define PAGE_MAX 65536ULL /* the largest page that a segment is mapped by */

/* Whether the segment, extended to whole pages when `rounded`, holds this
 * offset. */
static int holds(const struct jr_segment *segment, uint64_t offset, int rounded)
{
    uint64_t start = segment->offset, end;

    if (segment->size == 0 ||
        __builtin_add_overflow(segment->offset, segment->size, &end) ||
        end > UINT64_MAX - PAGE_MAX)
        return 0;
    if (rounded) {
        start &= ~(PAGE_MAX - 1);
        end = (end + PAGE_MAX - 1) & ~(PAGE_MAX - 1);
    }
    return offset >= start && offset < end;
}

int jr_segments_address(const struct jr_segments *segments,
                        const struct jr_mapping *mapping, uint64_t address,
                        uint64_t *elf_address)
{
    uint64_t offset = address - mapping->start + mapping->offset;

    if (mapping->has_bias) {
        *elf_address = address - mapping->bias;
        return 0;
    }
    /* Neighbouring segments may share a page of the file: code first, and the
     * exact extent before the pages. */
    for (int pass = 0; pass < 4; pass++) {
        for (size_t i = 0; i < segments->count; i++) {
            const struct jr_segment *segment = &segments->items[i];

            if ((pass % 2 == 0) != segment->code ||
                !holds(segment, offset, pass >= 2))
                continue;
            *elf_address = offset - segment->offset + segment->address;
            return 0;
        }
    }
    return -1;
}
