/* SPDX-License-Identifier: MIT
 *
 * The perf map reader: lines of real runtimes (tests/golden/perfmap), every
 * form of line that runtimes wrote (forms/ there) and made-up oddities.
 * Runs in: unit tests, in the top folder of the sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/perfmap.h"

static void expect_line(const struct jr_perfmap *map, size_t index,
                        uint64_t start, uint64_t size, const char *name)
{
    const struct jr_perfmap_line *line = &map->lines[index];

    assert_true(index < map->nlines);
    assert_int_equal(line->start, start);
    assert_int_equal(line->end - line->start, size);
    assert_int_equal(line->length, strlen(name));
    assert_memory_equal(line->name, name, line->length);
}

static void read_golden(const char *name, struct jr_perfmap *map)
{
    const char *why;
    char path[128];

    snprintf(path, sizeof path, "tests/golden/perfmap/%s", name);
    assert_int_equal(jr_perfmap_read(path, map, &why), 0);
    assert_int_equal(map->malformed, 0);
}

static void reads_the_lines_of_runtimes(void **state)
{
    struct jr_perfmap map;

    (void)state;
    read_golden("node.map", &map);
    assert_int_equal(map.nlines, 9);
    expect_line(&map, 0, 0x18c4000, 0x300, "Builtin:DeoptimizationEntry_Eager");
    expect_line(&map, 5, 0x7f315afc6300, 0x180,
                "JS:*fib /srv/zoo/src/fib.js:3:13");
    for (size_t i = 0; i < map.nlines; i++)
        assert_int_equal(map.lines[i].interpreted, i == 2 || i == 3);
    jr_perfmap_free(&map);
    read_golden("java.map", &map);
    expect_line(&map, 1, 0x7fdc30ec7620, 0x200,
                "void java.lang.System.arraycopy(java.lang.Object, int, "
                "java.lang.Object, int, int)");
    jr_perfmap_free(&map);
    read_golden("wasmtime.map", &map);
    expect_line(&map, 1, 0x7fea5c76f090, 0x2a, "wasm loop fn");
    jr_perfmap_free(&map);
    read_golden("python.map", &map);
    expect_line(
        &map, 2, 0x7f9c6f6ba016, 0xb,
        "py::_ModuleLockManager.__enter__:<frozen importlib._bootstrap>");
    jr_perfmap_free(&map);
}

/* A line of each form from whole files of runtimes. */
static void reads_all_forms_of_runtimes(void **state)
{
    static const struct {
        const char *name;
        size_t lines;
    } files[] = {
        {"forms/java.map", 36},           /* OpenJDK 17 */
        {"forms/node.map", 14},           /* Node 20 --perf-basic-prof */
        {"forms/node-functions.map", 12}, /* -only-functions */
        {"forms/node-churn.map", 13},     /* two codes at one address */
        {"forms/python.map", 13},         /* CPython 3.12 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct jr_perfmap map;

        read_golden(files[i].name, &map);
        assert_int_equal(map.nlines, files[i].lines);
        assert_int_equal(map.malformed, 0);
        jr_perfmap_free(&map);
    }
}

/* As many lines as the largest of those files had. */
static void reads_many_lines(void **state)
{
    enum { LINES = 2771, ROOM = 32 };
    char *text = malloc(LINES * ROOM);
    struct jr_perfmap map;
    size_t size = 0;

    (void)state;
    assert_non_null(text);
    for (unsigned i = 0; i < LINES; i++)
        size += (size_t)snprintf(text + size, ROOM, "%x 10 f%u\n",
                                 0x1000 + i * 16, i);
    jr_perfmap_parse((const uint8_t *)text, size, &map);
    assert_int_equal(map.nlines, LINES);
    assert_int_equal(map.malformed, 0);
    expect_line(&map, LINES - 1, 0x1000 + (LINES - 1) * 16, 0x10, "f2770");
    jr_perfmap_free(&map);
    free(text);
}

static void reads_odd_lines(void **state)
{
    static const char text[] = "0x00001000 0X20 a b\r\n"
                               "00000000000000000000002000 10 \xff\xfe(x)$\n"
                               "3000 0 empty\n"
                               "4000\t10\t tab\n"
                               "ABCDEF 1 upper\n"
                               "5000 10 LazyCompile:~f\n"
                               "6000 10 JS:*~f\n"
                               "7000 10 a.b:~f\n"
                               "8000 10 last";
    struct jr_perfmap map;

    (void)state;
    jr_perfmap_parse((const uint8_t *)text, sizeof text - 1, &map);
    assert_int_equal(map.malformed, 0);
    assert_int_equal(map.nlines, 8);
    expect_line(&map, 7, 0x8000, 0x10, "last");
    assert_int_equal(map.lines[7].covered_by, sizeof text - 1);
    expect_line(&map, 0, 0x1000, 0x20, "a b");
    expect_line(&map, 1, 0x2000, 0x10, "\xff\xfe(x)$");
    expect_line(&map, 2, 0x4000, 0x10, "tab");
    expect_line(&map, 3, 0xabcdef, 1, "upper");
    assert_int_equal(map.lines[4].interpreted, 1);
    assert_int_equal(map.lines[5].interpreted, 0);
    assert_int_equal(map.lines[6].interpreted, 0);
    assert_int_equal(map.lines[0].covered_by, 21);
    jr_perfmap_free(&map);
}

/* A map that is being written ends anywhere: half a line is no fault. */
static void leaves_out_half_a_last_line(void **state)
{
    static const char *const ends[] = {"2", "2 1", "2 1 ", "0x"};

    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct jr_perfmap map;
        char text[64];

        snprintf(text, sizeof text, "1 1 a\n%s", ends[i]);
        jr_perfmap_parse((const uint8_t *)text, strlen(text), &map);
        assert_int_equal(map.malformed, 0);
        assert_int_equal(map.nlines, 1);
        jr_perfmap_free(&map);
    }
}

static void leaves_out_what_is_no_line(void **state)
{
    static const char *const lines[] = {
        "\n",
        "1000\n",
        "1000 10\n",
        "1000 10 \n",
        "x 10 a\n",
        "1000 x a\n",
        "0x 10 a\n",
        "-1000 10 a\n",
        "10000000000000000 1 a\n",
        "1 1000000000000000000 a\n",
        "ffffffffffffffff 1 a\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct jr_perfmap map;
        char text[128];

        snprintf(text, sizeof text, "1 1 a\n%s2 1 b\n", lines[i]);
        jr_perfmap_parse((const uint8_t *)text, strlen(text), &map);
        if (map.malformed != 1 || map.nlines != 2)
            fail_msg("line %zu was taken", i);
        assert_int_equal(map.first_malformed, 6);
        jr_perfmap_free(&map);
    }
}

static void cuts_names_that_are_too_long(void **state)
{
    char *text = malloc(10000);
    struct jr_perfmap map;

    (void)state;
    memcpy(text, "1 1 ", 4);
    memset(text + 4, 'x', 9995);
    memcpy(text + 4 + JR_PERFMAP_NAME_MAX - 1, "\xc3\xa4", 2);
    text[9999] = '\n';
    jr_perfmap_parse((const uint8_t *)text, 10000, &map);
    assert_int_equal(map.nlines, 1);
    assert_int_equal(map.lines[0].length, JR_PERFMAP_NAME_MAX - 1);
    jr_perfmap_free(&map);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_lines_of_runtimes),
        cmocka_unit_test(reads_all_forms_of_runtimes),
        cmocka_unit_test(reads_many_lines),
        cmocka_unit_test(reads_odd_lines),
        cmocka_unit_test(leaves_out_half_a_last_line),
        cmocka_unit_test(leaves_out_what_is_no_line),
        cmocka_unit_test(cuts_names_that_are_too_long),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
