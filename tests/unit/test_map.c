/* SPDX-License-Identifier: MIT
 *
 * The map reader: events, mappings in time, damaged lines.
 * Runs in: unit tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/map.h"

#define BEGIN "1 jprof-map version=1 pid=7 start=99 log=jprof-log\n"

static int parse_bytes(const char *text, size_t size, struct jr_map *map,
                       struct jr_diag *diag)
{
    /* A block of its own, so that a sanitizer sees every overrun. */
    char *copy = malloc(size + 1);
    int result;

    memcpy(copy, text, size);
    memset(map, 0, sizeof *map);
    memset(diag, 0, sizeof *diag);
    map->path = strdup("map");
    map->pid = 7;
    map->start_ticks = 99;
    copy = realloc(copy, size ? size : 1);
    result = jr_map_parse((const uint8_t *)copy, size, map, diag);
    free(copy);
    return result;
}

static int parse(const char *text, struct jr_map *map, struct jr_diag *diag)
{
    return parse_bytes(text, strlen(text), map, diag);
}

static const char whole[] = BEGIN
    "2 process pid=7 ppid=6 exe=/bin/a%20b cwd=/ comm=a cmdline=a%00-b%00c%00\n"
    "3 module start=1000 end=3000 offset=800 dev=8:1 inode=42 mtime=123456789 "
    "bias=f0 build_id=00ff10 path=/bin/a%0ab future=1\n"
    "4 anon start=7f0000000000 end=7f0000001000 name=[anon:v8]\n"
    "5 section n=0 cpu=10\n"
    "6 thread tid=8 name=worker\n"
    "7 perfmap path=/tmp/perf-7.map dev=8:1 inode=5 size=100\n"
    "8 jitdump path=/x/jit-7.dump dev=8:1 inode=6 size=40 saved=jit-7.dump\n"
    "9 invented key=value\n"
    "10 note text=it%20rains\n"
    "11 pause cpu=20\n"
    "12 section n=1 cpu=25\n"
    "13 unmap start=1000 end=3000\n"
    "14 exit cpu=30\n";

static void reads_every_event(void **state)
{
    struct jr_diag diag;
    struct jr_map map;

    (void)state;
    assert_int_equal(parse(whole, &map, &diag), 0);
    assert_int_equal(diag.warnings, 0);
    assert_int_equal(map.ppid, 6);
    assert_string_equal(map.exe, "/bin/a b");
    assert_string_equal(map.comm, "a");
    assert_string_equal(map.cmdline, "a -b c");
    assert_int_equal(map.mappings.count, 2);
    assert_int_equal(map.nthreads, 1);
    assert_string_equal(map.threads[0].name, "worker");
    assert_int_equal(map.threads[0].tid, 8);
    assert_int_equal(map.njit, 2);
    assert_int_equal(map.jit[0].size, 100);
    assert_null(map.jit[0].saved);
    assert_int_equal(map.jit[1].is_dump, 1);
    assert_string_equal(map.jit[1].saved, "jit-7.dump");
    assert_int_equal(map.nsections, 2);
    assert_int_equal(map.sections[1].time_ns, 12);
    assert_int_equal(map.sections[1].cpu_ns, 25);
    assert_int_equal(map.npauses, 1);
    assert_int_equal(map.pauses[0].time_ns, 11);
    assert_int_equal(map.nnotes, 1);
    assert_string_equal(map.notes[0], "it rains");
    assert_int_equal(map.end_ns, 14);
    assert_int_equal(map.end_cpu_ns, 30);
    assert_int_equal(map.exited, 1);
    jr_map_free(&map);
}

static void reads_the_values_of_a_module(void **state)
{
    struct jr_diag diag;
    struct jr_map map;
    const struct jr_mapping *module;

    (void)state;
    assert_int_equal(parse(whole, &map, &diag), 0);
    module = &map.mappings.items[0];
    assert_int_equal(module->start, 0x1000);
    assert_int_equal(module->end, 0x3000);
    assert_int_equal(module->offset, 0x800);
    assert_int_equal(module->inode, 42);
    assert_int_equal(module->mtime_ns, 123456789);
    assert_int_equal(module->has_bias, 1);
    assert_int_equal(module->bias, 0xf0);
    assert_int_equal(module->build_id_size, 3);
    assert_memory_equal(module->build_id, "\x00\xff\x10", 3);
    assert_string_equal(module->path, "/bin/a\nb");
    assert_int_equal(module->from_ns, 3);
    assert_int_equal(module->until_ns, 13);
    assert_int_equal(module->anonymous, 0);
    assert_int_equal(map.mappings.items[1].anonymous, 1);
    assert_string_equal(map.mappings.items[1].path, "[anon:v8]");
    assert_true(map.mappings.items[1].until_ns == UINT64_MAX);
    jr_map_free(&map);
}

static void ends_what_a_later_mapping_overlaps(void **state)
{
    struct jr_diag diag;
    struct jr_map map;
    static const struct {
        uint64_t start, end, offset, from, until;
    } wanted[] = {
        {0x1000, 0x5000, 0x100, 2, 4},
        {0x8000, 0x9000, 0, 3, 4},
        {0x1000, 0x2000, 0x100, 4, 5},
        {0x8800, 0x9000, 0x800, 4, UINT64_MAX},
        {0x2000, 0x8800, 0, 4, UINT64_MAX},
        {0x1000, 0x1400, 0x100, 5, UINT64_MAX},
        {0x1800, 0x2000, 0x900, 5, UINT64_MAX},
    };

    (void)state;
    assert_int_equal(parse(BEGIN
                           "2 module start=1000 end=5000 offset=100 path=/a\n"
                           "3 module start=8000 end=9000 offset=0 path=/b\n"
                           "4 anon start=2000 end=8800\n"
                           "5 unmap start=1400 end=1800\n",
                           &map, &diag),
                     0);
    assert_int_equal(map.mappings.count, 7);
    for (size_t i = 0; i < 7; i++) {
        const struct jr_mapping *mapping = &map.mappings.items[i];

        assert_int_equal(mapping->start, wanted[i].start);
        assert_int_equal(mapping->end, wanted[i].end);
        assert_int_equal(mapping->offset, wanted[i].offset);
        assert_int_equal(mapping->from_ns, wanted[i].from);
        assert_true(mapping->until_ns == wanted[i].until);
    }
    assert_string_equal(map.mappings.items[6].path, "/a");
    jr_map_free(&map);
}

static void takes_lines_in_order_of_time(void **state)
{
    struct jr_diag diag;
    struct jr_map map;

    (void)state;
    assert_int_equal(parse(BEGIN "9 section n=1 cpu=1\n"
                                 "5 section n=0 cpu=0\n"
                                 "7 unmap start=1000 end=2000\n"
                                 "6 anon start=1000 end=2000\n",
                           &map, &diag),
                     0);
    assert_int_equal(map.sections[0].time_ns, 5);
    assert_int_equal(map.sections[1].time_ns, 9);
    assert_int_equal(map.mappings.items[0].from_ns, 6);
    assert_int_equal(map.mappings.items[0].until_ns, 7);
    assert_int_equal(map.end_ns, 9);
    jr_map_free(&map);
}

static void reads_only_the_run_asked_for(void **state)
{
    struct jr_diag diag;
    struct jr_map map;
    static const char other[] =
        "1 jprof-map version=1 pid=7 start=98 log=l\n2 note text=before\n";

    (void)state;
    assert_int_equal(parse(other, &map, &diag), -1);
    assert_int_equal(diag.warnings, 1);
    assert_int_equal(map.nnotes, 0);
    assert_string_equal(map.exe, "");
    jr_map_free(&map);
    assert_int_equal(parse("0 note text=stray\n"
                           "1 jprof-map version=1 pid=7 start=98 log=l\n"
                           "2 note text=before\n" BEGIN "3 note text=mine\n"
                           "4 jprof-map version=1 pid=8 start=99 log=l\n"
                           "5 note text=after\n",
                           &map, &diag),
                     0);
    assert_int_equal(map.nnotes, 1);
    assert_string_equal(map.notes[0], "mine");
    jr_map_free(&map);
}

static void passes_over_damaged_lines(void **state)
{
    static const char *const damaged[] = {
        "x note text=a\n",
        "2\n",
        "\n",
        "2 note text=%4\n",
        "2 note text=%zz\n",
        "2 note nothing\n",
        "2 note\n",
        "18446744073709551616 note text=a\n",
        "2 module start=2000 end=1000 offset=0 path=/a\n",
        "2 module start=1000 end=2000 path=/a\n",
        "2 module start=1000 end=2000 offset=0\n",
        "2 module start=0x1000 end=2000 offset=0 path=/a\n",
        "2 module start=1000 end=2000 offset=0 build_id=abc path=/a\n",
        "2 module start=1000 end=10000000000000000 offset=0 path=/a\n",
        "2 thread tid=4294967296 name=a\n",
        "2 thread tid=1\n",
        "2 perfmap path=/a\n",
        "2 unmap start=1\n",
        "2 note text=half",
    };

    (void)state;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct jr_diag diag;
        struct jr_map map;
        char *text = NULL;

        assert_true(asprintf(&text, BEGIN "1 note text=good\n%s", damaged[i]) >
                    0);
        assert_int_equal(parse(text, &map, &diag), 0);
        if (diag.warnings != 1 || map.nnotes != 1 || map.mappings.count ||
            map.nthreads || map.njit)
            fail_msg("line %zu was not passed over", i);
        jr_map_free(&map);
        free(text);
    }
}

static void bounds_the_length_of_lines(void **state)
{
    char *text = calloc(20000, 1);
    struct jr_diag diag;
    struct jr_map map;

    (void)state;
    strcpy(text, BEGIN "2 note text=");
    memset(text + strlen(text), 'x', 8192);
    strcat(text, "\n3 note text=b\n");
    assert_int_equal(parse(text, &map, &diag), 0);
    assert_int_equal(diag.warnings, 1);
    assert_int_equal(map.nnotes, 1);
    assert_string_equal(map.notes[0], "b");
    jr_map_free(&map);
    free(text);
}

static void survives_a_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof whole; size++) {
        struct jr_diag diag;
        struct jr_map map;
        int result = parse_bytes(whole, size, &map, &diag);

        assert_int_equal(result, size < strlen(BEGIN) ? -1 : 0);
        if (result == 0)
            assert_int_equal(diag.warnings, whole[size - 1] != '\n');
        jr_map_free(&map);
    }
}

static void says_when_there_is_no_map(void **state)
{
    struct jr_diag diag = {0};
    struct jr_map map;

    (void)state;
    assert_int_equal(jr_map_read("/nonexistent/map", 1, 2, &map, &diag), -1);
    assert_int_equal(diag.warnings, 1);
    assert_int_equal(map.pid, 1);
    assert_string_equal(map.cmdline, "");
    jr_map_free(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_event),
        cmocka_unit_test(reads_the_values_of_a_module),
        cmocka_unit_test(ends_what_a_later_mapping_overlaps),
        cmocka_unit_test(takes_lines_in_order_of_time),
        cmocka_unit_test(reads_only_the_run_asked_for),
        cmocka_unit_test(passes_over_damaged_lines),
        cmocka_unit_test(bounds_the_length_of_lines),
        cmocka_unit_test(survives_a_cut_at_every_byte),
        cmocka_unit_test(says_when_there_is_no_map),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
