/* SPDX-License-Identifier: MIT
 *
 * A segment tree over addresses: a range stands in the few nodes that together
 * cover it.  In a node all cover the same addresses, so their times are apart
 * and one search finds the time.
 * Runs in: analyzer. */
#include "ranges.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "search.h"

#define NEAR 4 /* ranges that are looked at one by one */

static int by_value(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return a < b ? -1 : a > b;
}

static int by_time(const void *one, const void *other)
{
    const struct jr_range *a = one, *b = other;

    if (a->from_ns != b->from_ns)
        return a->from_ns < b->from_ns ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* The index of the last bound at or below the address; nbounds: none is. */
static size_t bound_of(const struct jr_ranges *ranges, uint64_t address)
{
    const size_t from =
        JR_FIRST_NOT(ranges->nbounds, i, ranges->bounds[i] <= address);

    return from ? from - 1 : ranges->nbounds;
}

static void find_bounds(struct jr_ranges *ranges)
{
    size_t kept = 0;

    ranges->bounds = jr_alloc(ranges->count * 2, sizeof *ranges->bounds);
    for (size_t i = 0; i < ranges->count; i++) {
        ranges->bounds[2 * i] = ranges->items[i].start;
        ranges->bounds[2 * i + 1] = ranges->items[i].end;
    }
    qsort(ranges->bounds, ranges->count * 2, sizeof *ranges->bounds, by_value);
    for (size_t i = 0; i < ranges->count * 2; i++) {
        if (kept == 0 || ranges->bounds[kept - 1] != ranges->bounds[i])
            ranges->bounds[kept++] = ranges->bounds[i];
    }
    ranges->nbounds = kept;
}

/* Counts the range `item` in the nodes that cover it, or, once there is an
 * order, puts it there. */
static void put(struct jr_ranges *ranges, uint32_t item)
{
    const struct jr_range *range = &ranges->items[item];
    size_t from = ranges->leaves + bound_of(ranges, range->start);
    size_t to = ranges->leaves + bound_of(ranges, range->end);

    for (; from < to; from /= 2, to /= 2) {
        struct jr_range_node *nodes[2];
        size_t count = 0;

        if (from & 1)
            nodes[count++] = &ranges->nodes[from++];
        if (to & 1)
            nodes[count++] = &ranges->nodes[--to];
        for (size_t i = 0; i < count; i++) {
            if (ranges->order)
                ranges->order[nodes[i]->first + nodes[i]->count] = item;
            nodes[i]->count++;
        }
    }
}

static void put_all(struct jr_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        if (ranges->items[i].from_ns < ranges->items[i].until_ns)
            put(ranges, (uint32_t)i);
    }
}

void jr_ranges_build(struct jr_ranges *ranges)
{
    size_t total = 0;

    if (ranges->count == 0)
        return;
    find_bounds(ranges);
    qsort(ranges->items, ranges->count, sizeof *ranges->items, by_time);
    for (ranges->leaves = 1; ranges->leaves < ranges->nbounds;)
        ranges->leaves *= 2;
    ranges->nodes = jr_alloc(ranges->leaves * 2, sizeof *ranges->nodes);
    put_all(ranges);
    for (size_t i = 0; i < ranges->leaves * 2; i++) {
        ranges->nodes[i].first = (uint32_t)total;
        total += ranges->nodes[i].count;
        ranges->nodes[i].count = 0;
    }
    if (total >= JR_NO_RANGE)
        jr_no_memory();
    ranges->order = jr_alloc(total, sizeof *ranges->order);
    put_all(ranges);
}

/* Narrows the answer to the side of `edge` that `time_ns` is on. */
static void narrow(struct jr_range_answer *answer, uint64_t edge,
                   uint64_t time_ns)
{
    if (edge <= time_ns) {
        if (edge > answer->from_ns)
            answer->from_ns = edge;
    } else if (edge < answer->until_ns) {
        answer->until_ns = edge;
    }
}

static int has_begun(const struct jr_ranges *ranges,
                     const struct jr_range_node *node, size_t which,
                     uint64_t time_ns)
{
    const uint32_t item = ranges->order[node->first + which];

    return ranges->items[item].from_ns <= time_ns;
}

/* How many of the node's ranges begin by this time.  Who asks goes through time
 * mostly, so the answer is the last one or a little more. */
static size_t count_begun(const struct jr_ranges *ranges,
                          struct jr_range_node *node, uint64_t time_ns)
{
    size_t from = node->last, to = node->count;

    if (from > 0 && !has_begun(ranges, node, from - 1, time_ns)) {
        to = from - 1;
        from = 0;
    }
    for (int i = 0; i < NEAR && from < to; i++) {
        if (has_begun(ranges, node, from, time_ns))
            from++;
        else
            to = from;
    }
    from = JR_FIRST_NOT_IN(from, to, i, has_begun(ranges, node, i, time_ns));
    node->last = (uint32_t)from;
    return from;
}

/* Adds what a node knows to the answer. *later_ns: when the range answer->later
 * begins. */
static void ask(const struct jr_ranges *ranges, struct jr_range_node *node,
                uint64_t time_ns, struct jr_range_answer *answer,
                uint64_t *later_ns)
{
    const uint32_t *order = ranges->order + node->first;
    const size_t from = count_begun(ranges, node, time_ns);

    if (from > 0) {
        const struct jr_range *last = &ranges->items[order[from - 1]];

        narrow(answer, last->from_ns, time_ns);
        narrow(answer, last->until_ns, time_ns);
        if (time_ns < last->until_ns)
            answer->live = last->index;
    }
    if (from < node->count) {
        const struct jr_range *next = &ranges->items[order[from]];

        narrow(answer, next->from_ns, time_ns);
        if (answer->later == JR_NO_RANGE || next->from_ns < *later_ns) {
            answer->later = next->index;
            *later_ns = next->from_ns;
        }
    }
}

void jr_ranges_find(const struct jr_ranges *ranges, uint64_t address,
                    uint64_t time_ns, struct jr_range_answer *answer)
{
    const size_t bound = bound_of(ranges, address);
    uint64_t later_ns = 0;

    *answer = (struct jr_range_answer){
        .live = JR_NO_RANGE, .later = JR_NO_RANGE, .until_ns = UINT64_MAX};
    if (bound == ranges->nbounds)
        return;
    for (size_t node = ranges->leaves + bound; node > 0; node /= 2)
        ask(ranges, &ranges->nodes[node], time_ns, answer, &later_ns);
}

void jr_ranges_free(struct jr_ranges *ranges)
{
    free(ranges->items);
    free(ranges->bounds);
    free(ranges->nodes);
    free(ranges->order);
    memset(ranges, 0, sizeof *ranges);
}
