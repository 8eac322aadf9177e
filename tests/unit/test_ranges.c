/* SPDX-License-Identifier: MIT
 *
 * Ranges of addresses in time, against looking at all of them.
 * Runs in: unit tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/ranges.h"

#define SPAN 200 /* addresses, and moments */

/* Adds a range unless it shares an address and a time with another. */
static void add(struct jr_ranges *ranges, const struct jr_range *range)
{
    for (size_t i = 0; i < ranges->count; i++) {
        const struct jr_range *old = &ranges->items[i];

        if (old->start < range->end && range->start < old->end &&
            old->from_ns < range->until_ns && range->from_ns < old->until_ns)
            return;
    }
    *JR_PUSH(ranges->items, ranges->count, ranges->room) = *range;
}

static uint32_t next(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1103515245 + 12345;
    return (*seed >> 16) % below;
}

static void narrow(struct jr_range_answer *answer, uint64_t edge, uint64_t time)
{
    if (edge <= time && edge > answer->from_ns)
        answer->from_ns = edge;
    if (edge > time && edge < answer->until_ns)
        answer->until_ns = edge;
}

/* The same by looking at all ranges. */
static struct jr_range_answer slowly(const struct jr_ranges *ranges,
                                     uint64_t address, uint64_t time)
{
    struct jr_range_answer answer = {
        .live = JR_NO_RANGE, .later = JR_NO_RANGE, .until_ns = UINT64_MAX};
    uint64_t later_ns = UINT64_MAX;

    for (size_t i = 0; i < ranges->count; i++) {
        const struct jr_range *range = &ranges->items[i];

        if (address < range->start || address >= range->end)
            continue;
        narrow(&answer, range->from_ns, time);
        narrow(&answer, range->until_ns, time);
        if (range->from_ns <= time && time < range->until_ns) {
            answer.live = range->index;
        } else if (range->from_ns > time && range->from_ns < later_ns) {
            answer.later = range->index;
            later_ns = range->from_ns;
        }
    }
    return answer;
}

static void compare(const struct jr_ranges *ranges)
{
    for (uint64_t address = 0; address < SPAN + 70; address++) {
        for (uint64_t time = 0; time < SPAN + 70; time += 3) {
            struct jr_range_answer got, wanted = slowly(ranges, address, time);

            jr_ranges_find(ranges, address, time, &got);
            assert_int_equal(got.live, wanted.live);
            assert_int_equal(got.later, wanted.later);
            assert_int_equal(got.from_ns, wanted.from_ns);
            assert_int_equal(got.until_ns, wanted.until_ns);
        }
    }
}

static void finds_what_is_there_then(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int round = 0; round < 20; round++) {
        struct jr_ranges ranges = {0};

        for (uint32_t i = 0; i < 300; i++) {
            struct jr_range range = {.start = next(&seed, SPAN),
                                     .from_ns = next(&seed, SPAN),
                                     .index = i};

            range.end = range.start + 1 + next(&seed, 60);
            range.until_ns = range.from_ns + 1 + next(&seed, 60);
            add(&ranges, &range);
        }
        jr_ranges_build(&ranges);
        compare(&ranges);
        jr_ranges_free(&ranges);
    }
}

/* No range, and one that holds at no time. */
static void finds_nothing(void **state)
{
    struct jr_ranges ranges = {0};
    struct jr_range_answer answer;

    (void)state;
    jr_ranges_build(&ranges);
    jr_ranges_find(&ranges, 5, 5, &answer);
    assert_int_equal(answer.live, JR_NO_RANGE);
    assert_int_equal(answer.until_ns, UINT64_MAX);
    *JR_PUSH(ranges.items, ranges.count, ranges.room) =
        (struct jr_range){0, UINT64_MAX, 5, 5, 0};
    jr_ranges_build(&ranges);
    jr_ranges_find(&ranges, 5, 5, &answer);
    assert_int_equal(answer.live, JR_NO_RANGE);
    assert_int_equal(answer.later, JR_NO_RANGE);
    jr_ranges_free(&ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_there_then),
        cmocka_unit_test(finds_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
