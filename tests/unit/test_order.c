/* SPDX-License-Identifier: MIT
 *
 * The radix sort of symbols: order, equal numbers, extreme numbers; and the
 * names that are chosen after it.
 * Runs in: unit tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "symbol/elf/elf_names.h"
#include "base/order.h"

static uint64_t seed = 88172645463325252ULL;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static void check(struct jr_ordered *items, size_t count)
{
    jr_order(items, count);
    for (size_t i = 1; i < count; i++) {
        assert_true(items[i - 1].value <= items[i].value);
        if (items[i - 1].value == items[i].value)
            assert_true(items[i - 1].index < items[i].index);
    }
}

static void sorts_and_keeps_equal_ones(void **state)
{
    static const uint64_t masks[] = {0,        1,          0x7ff,     0x800,
                                     0x3fffff, 0xffffffff, UINT64_MAX};
    struct jr_ordered items[3000];

    (void)state;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        for (size_t count = 0; count <= 3000; count += 1 + count * 3) {
            uint64_t sum = 0, sorted = 0;

            for (size_t j = 0; j < count; j++) {
                items[j] = (struct jr_ordered){
                    0x400000 + (next_random() & masks[i]), j};
                sum += items[j].value;
            }
            check(items, count);
            for (size_t j = 0; j < count; j++)
                sorted += items[j].value;
            assert_true(sum == sorted);
        }
}

static void sorts_extremes(void **state)
{
    struct jr_ordered items[] = {{UINT64_MAX, 0}, {0, 1}, {UINT64_MAX, 2},
                                 {1, 3},          {0, 4}, {INT64_MAX, 5}};

    (void)state;
    check(items, sizeof items / sizeof *items);
    assert_int_equal(items[0].index, 1);
    assert_int_equal(items[5].index, 2);
}

static void add(struct jr_candidates *candidates, uint64_t start, uint64_t size,
                const char *name, uint8_t binding)
{
    *JR_PUSH(candidates->items, candidates->count, candidates->room) =
        (struct jr_candidate){start, size,    0x2000,
                              name,  binding, JR_IS_FUNCTION};
}

static void chooses_one_name_whatever_the_order(void **state)
{
    static const struct {
        const char *name;
        uint64_t size;
        uint8_t binding;
    } names[] = {{"_under", 8, STB_GLOBAL},
                 {"weak", 16, STB_WEAK},
                 {"longer", 4, STB_GLOBAL},
                 {"best", 0, STB_GLOBAL},
                 {"a", 2, STB_LOCAL}};
    const struct jr_fdes fdes = {0};

    (void)state;
    for (size_t turn = 0; turn < 5; turn++) {
        struct jr_candidates candidates = {0};
        struct jr_names chosen = {0};

        add(&candidates, 0x1800, 4, "after", STB_GLOBAL);
        for (size_t i = 0; i < 5; i++) {
            size_t j = (i + turn) % 5;

            add(&candidates, 0x1000, names[j].size, names[j].name,
                names[j].binding);
        }
        jr_names_choose(&candidates, &fdes, &chosen);
        assert_int_equal(chosen.count, 2);
        assert_string_equal(chosen.items[0].name, "best");
        assert_int_equal(chosen.items[0].end, 0x1010);
        assert_string_equal(jr_names_find(&chosen, 0x1803)->name, "after");
        free(candidates.items);
        free(chosen.items);
    }
}

/* The rule of symbol/elf/README.md, one step of it after the other. */
static void chooses_by_the_rule(void **state)
{
    static const struct {
        const char *better;
        uint8_t better_binding;
        const char *worse;
        uint8_t worse_binding;
    } pairs[] = {
        {"__visible", STB_WEAK, "own", STB_LOCAL},
        {"nanosleep", STB_WEAK, "__nanosleep", STB_GLOBAL},
        {"_start_here", STB_GLOBAL, "__go", STB_GLOBAL},
        {"htonl_by_name", STB_GLOBAL, "ntohl", STB_WEAK},
        {"pow", STB_GLOBAL, "powf64", STB_GLOBAL},
        {"_ZN1aC1Ev", STB_WEAK, "_ZN1aC2Ev", STB_WEAK},
        {"_ZN1aD1Ev", STB_GLOBAL, "_ZN1aD2Ev", STB_GLOBAL},
    };
    const struct jr_fdes fdes = {0};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof pairs / sizeof *pairs; i++) {
        struct jr_candidates candidates = {0};
        struct jr_names chosen = {0};

        for (size_t j = i % 2; j < i % 2 + 2; j++) {
            const int is_better = j % 2 == 0;

            add(&candidates, 0x1000, 8,
                is_better ? pairs[i / 2].better : pairs[i / 2].worse,
                is_better ? pairs[i / 2].better_binding
                          : pairs[i / 2].worse_binding);
        }
        jr_names_choose(&candidates, &fdes, &chosen);
        assert_int_equal(chosen.count, 1);
        assert_string_equal(chosen.items[0].name, pairs[i / 2].better);
        free(candidates.items);
        free(chosen.items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_and_keeps_equal_ones),
        cmocka_unit_test(sorts_extremes),
        cmocka_unit_test(chooses_one_name_whatever_the_order),
        cmocka_unit_test(chooses_by_the_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
