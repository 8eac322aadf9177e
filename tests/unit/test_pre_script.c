/* SPDX-License-Identifier: MIT
 *
 * Frames of scripts in the library: exported symbols of mapped files, tables of
 * lines, and where the frames stand in a stack.
 * Runs in: unit tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <link.h>

#include "../../preload/sig/script/image.h"
#include "../../preload/sig/script/python_lines.h"
#include "../../preload/sig/script/scratch.h"

static struct jp_script script;

/* The table of lines that the library makes of CPython's, in one part. */
static const char *lines_of(const uint8_t *table, size_t size, unsigned minor)
{
    script.direct = 1;
    script.fresh = (struct jp_script_fresh){.table = (uint64_t)table,
                                            .unread = (uint32_t)size};
    jp_python_lines_sig(&script, minor);
    assert_int_equal(script.fresh.unread, 0);
    return script.fresh.lines;
}

/* Each table is that of a function of the version named, from its co_lnotab,
 * co_linetable: def f(a): / x = 1 / (a blank line) / return x. */
static void test_tables_of_lines(void **state)
{
    static const uint8_t lnotab[] = {0, 1, 4, 2};
    static const uint8_t pairs[] = {4, 1, 4, 2};
    static const uint8_t none[] = {6, 1, 8, 0x80, 2, 0xff};
    /* RESUME without columns (line 0), one line further with columns, two
     * further and columns, code without a line, a long entry 70 back. */
    static const uint8_t locations[] = {0xd8,
                                        0x80 | 11 << 3,
                                        0x10,
                                        0x20,
                                        0x80 | 12 << 3 | 1,
                                        0x04,
                                        0x08,
                                        0x80 | 15 << 3,
                                        0x80 | 13 << 3 | 7,
                                        0x40 | (141 & 63),
                                        141 >> 6};
    (void)state;
    assert_string_equal(lines_of(lnotab, sizeof(lnotab), 8), "4+1,1+2");
    assert_string_equal(lines_of(pairs, sizeof(pairs), 10), "4+1,4+2");
    assert_string_equal(lines_of(none, sizeof(none), 10), "6+1,8?,2-1");
    assert_string_equal(lines_of(locations + 1, sizeof(locations) - 1, 11),
                        "2+1,4+2,2?,16-70");
}

/* A long table comes in several parts, and a cut one is read to its end. */
static void test_parts_of_lines(void **state)
{
    static uint8_t table[8192];
    unsigned parts = 0, ranges = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(table); i += 2) {
        table[i] = 2;
        table[i + 1] = i % 4 != 0 ? 0xff : 100;
    }
    script.direct = 1;
    script.fresh = (struct jp_script_fresh){.table = (uint64_t)table,
                                            .unread = sizeof(table)};
    while (script.fresh.unread != 0) {
        jp_python_lines_sig(&script, 10);
        assert_true(strlen(script.fresh.lines) < JP_SCRIPT_LINES_MAX);
        for (const char *at = script.fresh.lines; *at != '\0'; at++)
            ranges += *at == ',';
        ranges++;
        parts++;
    }
    assert_true(parts > 3);
    assert_int_equal(ranges, sizeof(table) / 2);
    static const uint8_t cut[] = {0x80 | 13 << 3, 0x40, 0x40};
    assert_string_equal(lines_of(cut, sizeof(cut), 12), "2+0");
    assert_string_equal(lines_of(cut, 1, 8), "1+0");
}

static int find_libc(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    if (strstr(info->dlpi_name, "/libc.so") == NULL)
        return 0;
    *(uint64_t *)base = info->dlpi_addr;
    return 1;
}

static void test_exported_symbols(void **state)
{
    struct jp_image image;
    uint64_t base = 0, size = 0;
    /* A sanitizer has a strtol of its own. */
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    (void)state;
    assert_non_null(libc);
    dl_iterate_phdr(find_libc, &base);
    assert_int_equal(jp_image_open_sig(&image, base), 0);
    assert_int_equal(jp_image_find_sig(&image, "strtol", &size),
                     (uint64_t)dlsym(libc, "strtol"));
    assert_true(size != 0);
    assert_int_equal(jp_image_find_sig(&image, "environ", NULL),
                     (uint64_t)dlsym(libc, "environ"));
    assert_int_equal(jp_image_find_sig(&image, "_PyRuntime", NULL), 0);
    assert_true(jp_image_open_sig(&image, (uint64_t)&script) != 0);
    assert_true(jp_image_open_sig(&image, 4096) != 0);
    dlclose(libc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_of_lines),
        cmocka_unit_test(test_parts_of_lines),
        cmocka_unit_test(test_exported_symbols),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
