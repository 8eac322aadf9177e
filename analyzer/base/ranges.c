/* SPDX-License-Identifier: MIT
 *
 * Ranges in order of start under a tree of their highest ends.
 * Runs in: analyzer. */
#include "ranges.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

static int by_start(const void *one, const void *other)
{
    const struct jr_range *a = one, *b = other;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static int by_value(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

    return a < b ? -1 : a > b;
}

void jr_ranges_build(struct jr_ranges *ranges)
{
    size_t leaves = 1;

    if (ranges->count == 0)
        return;
    qsort(ranges->items, ranges->count, sizeof *ranges->items, by_start);
    while (leaves < ranges->count)
        leaves *= 2;
    ranges->leaves = leaves;
    ranges->ends = jr_alloc(leaves * 2, sizeof *ranges->ends);
    for (size_t i = 0; i < ranges->count; i++)
        ranges->ends[leaves + i] = ranges->items[i].end;
    for (size_t i = leaves - 1; i > 0; i--) {
        uint64_t left = ranges->ends[2 * i], right = ranges->ends[2 * i + 1];

        ranges->ends[i] = left > right ? left : right;
    }
}

/* How many ranges start at or below `address`. */
static size_t count_started(const struct jr_ranges *ranges, uint64_t address)
{
    size_t from = 0, to = ranges->count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (ranges->items[middle].start <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct query {
    const struct jr_ranges *ranges;
    uint64_t address;
    size_t started; /* ranges from here on start after the address */
    struct jr_indices *found;
};

/* Collects from the subtree `node`, whose leaves start at `first` and are
 * `width`, the ranges that hold the address. */
static void collect(const struct query *query, size_t node, size_t first,
                    size_t width)
{
    const struct jr_ranges *ranges = query->ranges;
    struct jr_indices *found = query->found;

    if (first >= query->started || ranges->ends[node] <= query->address)
        return;
    if (width == 1) {
        *JR_PUSH(found->items, found->count, found->room) =
            ranges->items[first].index;
        return;
    }
    collect(query, 2 * node, first, width / 2);
    collect(query, 2 * node + 1, first + width / 2, width / 2);
}

void jr_ranges_find(const struct jr_ranges *ranges, uint64_t address,
                    struct jr_indices *found)
{
    struct query query = {ranges, address, 0, found};

    found->count = 0;
    query.started = count_started(ranges, address);
    if (ranges->count)
        collect(&query, 1, 0, ranges->leaves);
    if (found->count > 1)
        qsort(found->items, found->count, sizeof *found->items, by_value);
}

void jr_ranges_free(struct jr_ranges *ranges)
{
    free(ranges->items);
    free(ranges->ends);
    memset(ranges, 0, sizeof *ranges);
}
