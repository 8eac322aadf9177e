/* SPDX-License-Identifier: MIT
 *
 * A table of executable ranges.
 * Runs in: handler, any thread. */
#include "ranges.h"

#include <stddef.h>

/* Word by word, since the next scan but one may be writing over it. */
void jp_ranges_copy_sig(struct jp_maps_range *to,
                        const struct jp_maps_range *from)
{
    uint64_t *out = (uint64_t *)to;
    const uint64_t *in = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof(*to) / sizeof(*out); i++)
        __atomic_store_n(&out[i], __atomic_load_n(&in[i], __ATOMIC_RELAXED),
                         __ATOMIC_RELAXED);
}

int jp_ranges_same_sig(const struct jp_maps_range *a,
                       const struct jp_maps_range *b)
{
    return a->start == b->start && a->end == b->end && a->offset == b->offset &&
           a->inode == b->inode && a->device == b->device;
}

int jp_ranges_is_anonymous_sig(const struct jp_maps_range *range)
{
    return range->inode == 0 && range->base == 0 && range->start >> 63 == 0;
}

const struct jp_maps_range *jp_ranges_find_sig(const struct jp_ranges *in,
                                               uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = in->count < JP_RANGES_MAX ? in->count : JP_RANGES_MAX;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct jp_maps_range *range = &in->ranges[middle];
        if (address < __atomic_load_n(&range->start, __ATOMIC_RELAXED))
            high = middle;
        else if (address >= __atomic_load_n(&range->end, __ATOMIC_RELAXED))
            low = middle + 1;
        else
            return range;
    }
    return NULL;
}

const struct jp_maps_range *jp_ranges_at_sig(const struct jp_ranges *in,
                                             uint64_t index)
{
    return index < in->count ? &in->ranges[index] : NULL;
}

/* Counts a range without a file, and widens [low, high): most addresses that
 * are asked about are outside of it, and need no search. */
static void count_anonymous_sig(struct jp_ranges *in,
                                const struct jp_maps_range *range)
{
    if (in->anonymous == 0 || range->start < in->low)
        in->low = range->start;
    if (in->anonymous == 0 || range->end > in->high)
        in->high = range->end;
    in->anonymous++;
}

int jp_ranges_add_sig(struct jp_ranges *in, const struct jp_maps_range *range)
{
    if (in->count >= JP_RANGES_MAX)
        return 0;
    jp_ranges_copy_sig(&in->ranges[in->count++], range);
    if (jp_ranges_is_anonymous_sig(range))
        count_anonymous_sig(in, range);
    return 1;
}

/* Adds the part [start, end) of an old range, if there is one.  (Of a JIT
 * compiler's memory it may not be executable just now, as code is written.) */
static void keep_part_sig(struct jp_ranges *in, const struct jp_maps_range *old,
                          uint64_t start, uint64_t end)
{
    struct jp_maps_range part = *old;
    if (start >= end)
        return;
    part.start = start;
    part.end = end;
    if (part.inode != 0)
        part.offset += start - old->start;
    jp_ranges_add_sig(in, &part);
}

int jp_ranges_insert_sig(struct jp_ranges *fresh, const struct jp_ranges *old,
                         const struct jp_maps_range *range)
{
    const struct jp_maps_range *ranges = old->ranges;
    const uint32_t count = old->count;
    uint32_t i = 0;
    fresh->count = fresh->anonymous = 0;
    if (count + 2 > JP_RANGES_MAX)
        return 0;
    for (; i < count && ranges[i].end <= range->start; i++)
        jp_ranges_add_sig(fresh, &ranges[i]);
    const uint32_t first = i;
    while (i < count && ranges[i].start < range->end)
        i++;
    if (i != first)
        keep_part_sig(fresh, &ranges[first], ranges[first].start, range->start);
    jp_ranges_add_sig(fresh, range);
    if (i != first)
        keep_part_sig(fresh, &ranges[i - 1], range->end, ranges[i - 1].end);
    for (; i < count; i++)
        jp_ranges_add_sig(fresh, &ranges[i]);
    return 1;
}
