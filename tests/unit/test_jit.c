/* SPDX-License-Identifier: MIT
 *
 * JIT code in time: which name an address has when, from jitdumps and perf
 * maps of one process; its lines and bytes.
 * Runs in: unit tests, in the top folder of the sources. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "jit_world.h"

static void ends_what_a_load_touches(void **state)
{
    struct bytes dump = {0};
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    /* Records in any order. */
    put_load(&dump, 50, 0x1040, 0x20, "inner");
    put_load(&dump, 20, 0x1000, 0x100, "old");
    put_load(&dump, 30, 0x1100, 0x100, "next");
    put_load(&dump, 70, 0x10c0, 0x80, "across");
    put_load(&dump, 90, 0x1000, 0x100, "again");
    world = build_with(&dump, BEGIN DUMP);
    expect(world, 0x1000, 10, "?old");
    expect(world, 0x1000, 20, "old");
    expect(world, 0x1000, 49, "old");
    expect(world, 0x1000, 50, "?again"); /* its memory is used anew */
    expect(world, 0x1050, 50, "inner");
    expect(world, 0x105f, 69, "inner");
    expect(world, 0x1060, 60, "?again");
    expect(world, 0x1100, 69, "next");
    expect(world, 0x1100, 70, "across");
    expect(world, 0x1180, 70, "[jit]"); /* the rest of next */
    expect(world, 0x10c0, 95, "again");
    expect(world, 0x1100, 95, "[jit]"); /* the rest of across */
    expect(world, 0x1200, 95, "[jit]");
    assert_int_equal(world->diag.warnings, 0);
    assert_int_equal(jr_space_jit(world->space).files, 1);
    drop(world);
}

static void moves_and_closes(void **state)
{
    struct entry entry = {0x1002, 9, 1, "m.js"};
    struct bytes dump = {0};
    struct jr_jit_code code;
    struct world *world;
    uint8_t byte = 0;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_debug(&dump, 10, 0x1000, &entry, 1);
    put_load(&dump, 10, 0x1000, 0x100, "m");
    put_load(&dump, 10, 0x2000, 0x100, "in the way");
    put_move(&dump, 20, 0x1000, 0x2080, 0x100);
    put_move(&dump, 25, 0x6000, 0x3000, 0x100); /* from nowhere */
    put_move(&dump, 30, 0x2080, 0x2090, 0x100); /* over itself */
    put_close(&dump, 40);
    put_load(&dump, 50, 0x4000, 0x100, "late");
    world = build_with(&dump, BEGIN DUMP);
    expect(world, 0x1000, 19, "m");
    expect(world, 0x1000, 20, "[jit]");
    expect(world, 0x2000, 19, "in the way");
    expect(world, 0x2000, 20, "[jit]");
    expect(world, 0x2080, 29, "m");
    expect(world, 0x2080, 30, "[jit]");
    expect(world, 0x2180, 30, "m");
    expect(world, 0x2180, 40, "[jit]");
    expect(world, 0x3000, 30, "[jit]");
    expect(world, 0x4000, 50, "late");
    assert_int_equal(find(world, 0x2092, 35)->line, 9);
    assert_int_equal(jr_jit_code_find(world->space, 0x2092, 35, &code), 0);
    assert_int_equal(code.start, 0x2090);
    assert_int_equal(code.lines[0].address, 0x2092);
    assert_int_equal(jr_jit_code_bytes(&code, &byte, 1), 1);
    assert_int_equal(byte, 0xc3);
    drop(world);
}

static void layers_dump_over_perf_map(void **state)
{
    static const char map[] = "1000 100 from map\n"    /* 18 */
                              "2000 100 only map\n"    /* 36 */
                              "3000 100 JS:~bytes\n"   /* 55 */
                              "1200 100 new in map\n"; /* 75 */
    struct bytes dump = {0};
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_load(&dump, 30, 0x1000, 0x80, "from dump");
    put_load(&dump, 50, 0x2080, 0x10, "on top");
    put_load(&dump, 90, 0x1200, 0x100, "too late");
    put_load(&dump, 90, 0x3000, 0x10, "real code");
    put_file("map", map, sizeof map - 1);
    world = build_with(
        &dump, BEGIN DUMP
        "20 perfmap path=/nonexistent/p inode=6 size=55\n"
        "60 perfmap path=/nonexistent/p inode=6 size=75 saved=map\n");
    expect(world, 0x1000, 5, "?from map");
    expect(world, 0x1000, 20, "from map");
    expect(world, 0x1000, 30, "from dump");
    expect(world, 0x1090, 25, "from map");
    expect(world, 0x1090, 30, "[jit]");    /* the dump says it is over */
    expect(world, 0x2000, 40, "only map"); /* the map fills the rest */
    expect(world, 0x2085, 49, "only map");
    expect(world, 0x2085, 50, "on top");
    expect(world, 0x2000, 50, "[jit]");
    expect(world, 0x1200, 59, "?new in map");
    expect(world, 0x1200, 60, "new in map");
    expect(world, 0x1200, 90, "too late");
    expect(world, 0x3000, 40, "bytes");
    expect(world, 0x3000, 90, "real code");
    assert_int_equal(jr_space_jit(world->space).files, 2);
    drop(world);
}

/* Two runtimes in one process give memory to each other. */
static void reads_several_dumps(void **state)
{
    struct bytes one = {0}, two = {.swapped = 1};
    struct world *world;

    (void)state;
    put_header(&one, 1, 40, 0);
    put_load(&one, 10, 0x1000, 0x100, "a");
    put_load(&one, 50, 0x1000, 0x100, "c");
    put_close(&one, 80);
    put_header(&two, 1, 40, 0);
    put_load(&two, 20, 0x2000, 0x100, "x");
    put_load(&two, 30, 0x10f0, 0x100, "b");
    put_file("two", two.data, two.size);
    free(two.data);
    world =
        build_with(&one, BEGIN DUMP
                   "12 jitdump path=/nonexistent/d inode=6 size=1 saved=two\n");
    expect(world, 0x1000, 29, "a");
    expect(world, 0x1000, 30, "?c");
    expect(world, 0x10f0, 30, "b");
    expect(world, 0x10f0, 50, "c");
    expect(world, 0x2000, 90, "x"); /* the other's CLOSE */
    expect(world, 0x1000, 90, "[jit]");
    assert_int_equal(jr_space_jit(world->space).files, 2);
    drop(world);
}

/* Times of the processor's counter say nothing: the sightings do. */
static void dates_arch_times_by_sightings(void **state)
{
    struct bytes dump = {0};
    struct world *world;
    char text[256];
    size_t size;

    (void)state;
    put_header(&dump, 1, 40, 1);
    put_load(&dump, 5000, 0x1000, 0x100, "first");
    size = dump.size;
    put_load(&dump, 6000, 0x1080, 0x100, "second");
    snprintf(text, sizeof text,
             BEGIN "10 jitdump path=/nonexistent/d inode=5 size=%zu\n"
                   "20 jitdump path=/nonexistent/d inode=5 size=%zu "
                   "saved=dump\n",
             size, dump.size);
    world = build_with(&dump, text);
    expect(world, 0x1000, 5, "?first");
    expect(world, 0x1000, 19, "first");
    expect(world, 0x1000, 20, "[jit]");
    expect(world, 0x1150, 15, "?second");
    expect(world, 0x1150, 20, "second");
    drop(world);
}

static void leaves_out_another_process(void **state)
{
    struct bytes dump = {0};
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_load_of(&dump, 7, 20, 0x1000, 0x100, "ours");
    put_load_of(&dump, 8, 30, 0x1000, 0x100, "the child's");
    world = build_with(&dump, BEGIN DUMP);
    expect(world, 0x1000, 40, "ours");
    drop(world);
    /* The child, which began at 100. */
    memset(&dump, 0, sizeof dump);
    put_header(&dump, 1, 40, 0);
    poke32(&dump, 20, 6);
    put_load_of(&dump, 6, 20, 0x1000, 0x100, "inherited");
    put_load_of(&dump, 6, 120, 0x1000, 0x100, "the parent's");
    put_load_of(&dump, 7, 130, 0x2000, 0x100, "own");
    world = build_with(&dump, BEGIN DUMP);
    expect(world, 0x1000, 140, "inherited");
    expect(world, 0x2000, 140, "own");
    drop(world);
    /* Pids of another namespace: all is taken. */
    memset(&dump, 0, sizeof dump);
    put_header(&dump, 1, 40, 0);
    put_load_of(&dump, 1, 20, 0x1000, 0x100, "inner");
    world = build_with(&dump, BEGIN DUMP);
    expect(world, 0x1000, 140, "inner");
    drop(world);
}

static void gives_lines(void **state)
{
    static const struct entry biased[] = {
        {0x1040, 3, 1, "a.js"}, {0x1060, 4, 7, "\xff"}, {0x1050, 5, 2, "b.js"}};
    static const struct entry plain[] = {{0x2010, 8, 0, ""},
                                         {0x2020, 7, 0, "c.c"}};
    struct bytes dump = {0};
    const struct jr_frame *frame;
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_debug(&dump, 10, 0x1000, biased, 3);
    put_unwinding(&dump, 10);
    put_load(&dump, 10, 0x1000, 0x100, "f");
    world = build_with(&dump, BEGIN DUMP);
    frame = find(world, 0x1005, 20);
    assert_string_equal(frame->file, "a.js");
    assert_int_equal(frame->line, 3);
    assert_int_equal(find(world, 0x1010, 20)->line, 5);
    frame = find(world, 0x1030, 20);
    assert_string_equal(frame->file, "a.js");
    assert_int_equal(frame->line, 4);
    assert_string_equal(frame->name, "f");
    drop(world);
    /* A writer that adds nothing; another thread's record came between. */
    memset(&dump, 0, sizeof dump);
    put_header(&dump, 1, 40, 0);
    put_debug(&dump, 10, 0x2000, plain, 2);
    put_debug(&dump, 10, 0x5000, plain, 2);
    put_load(&dump, 10, 0x2000, 0x100, "g");
    world = build_with(&dump, BEGIN DUMP);
    assert_null(find(world, 0x2005, 20)->file);
    assert_null(find(world, 0x2010, 20)->file);
    assert_int_equal(find(world, 0x2010, 20)->line, 8);
    assert_string_equal(find(world, 0x20ff, 20)->file, "c.c");
    assert_int_equal(jr_space_jit(world->space).bad_lines, 0);
    drop(world);
}

/* Node 20's freed file names: of 44 tables 14 are garbage, that of the hot
 * function among them. */
static void saves_lines_from_garbage(void **state)
{
    struct bytes dump = real_dump("node/perf-prof.jit.dump.xz");
    const struct jr_frame *frame;
    struct jr_jit_code code;
    struct world *world;
    struct jr_hit hit;
    uint64_t start = 0, last = 0;
    size_t named = 0, lines = 0;
    uint8_t bytes[16];

    (void)state;
    for (size_t at = 40; at + 56 < dump.size;) {
        uint32_t head[2];
        uint64_t fields[3];

        memcpy(head, dump.data + at, 8);
        memcpy(&last, dump.data + at + 8, 8);
        memcpy(fields, dump.data + at + 32, 16);
        if (head[0] == 0 &&
            !strncmp((char *)dump.data + at + 56, "JS:^fib ", 8))
            start = fields[0];
        at += head[1];
    }
    world = build_with(&dump, BEGIN DUMP);
    assert_int_equal(jr_jit_code_find(world->space, start, last, &code), 0);
    assert_string_equal(code.name, "JS:^fib /srv/zoo/src/fib.js:3:13");
    assert_int_equal(code.nlines, 8);
    assert_int_equal(code.machine, 62);
    assert_int_equal(jr_jit_code_bytes(&code, bytes, sizeof bytes), 16);
    assert_memory_equal(bytes, "\xbb", 1);
    for (uint64_t at = 0; at < code.end - code.start; at++) {
        jr_space_find(world->space, start + at, last, 0, &hit);
        frame = hit.frames;
        named += frame->file && !strcmp(frame->file, "/srv/zoo/src/fib.js");
        lines += frame->line >= 3 && frame->line <= 6;
    }
    assert_int_equal(named, code.end - code.start);
    assert_int_equal(lines, code.end - code.start);
    assert_int_equal(jr_space_jit(world->space).bad_lines, 1);
    drop(world);
}

static void reads_bytes_of_kept_memory(void **state)
{
    static const char map[] = "1000 100 f\n2000 100 g\n2000 200 later g\n";
    struct jr_jit_code code;
    struct world *world;
    uint8_t bytes[32];

    (void)state;
    put_file("map", map, sizeof map - 1);
    put_file("code", "0123456789abcdef", 16);
    world =
        build(BEGIN "20 perfmap path=/nonexistent/p inode=6 size=22 saved=map\n"
                    "50 perfmap path=/nonexistent/p inode=6 size=39 saved=map\n"
                    "10 code start=2000 end=2004 offset=6 saved=code\n"
                    "30 code start=ff8 end=1004 offset=2 saved=code\n"
                    "30 code start=1004 end=1006 offset=0 saved=code\n"
                    "30 code start=1000 end=1100 offset=0 saved=../code\n");
    assert_int_equal(jr_jit_code_find(world->space, 0x1001, 40, &code), 0);
    assert_int_equal(code.source, JR_JIT_PERFMAP);
    assert_int_equal(jr_jit_code_bytes(&code, bytes, sizeof bytes), 6);
    assert_memory_equal(bytes, "abcd01", 6);
    /* Kept before the map came: a JVM's comes on demand.  That of the code
     * before it is not that of the later one. */
    assert_int_equal(jr_jit_code_find(world->space, 0x2001, 15, &code), 0);
    assert_int_equal(code.late, 1);
    assert_int_equal(jr_jit_code_bytes(&code, bytes, sizeof bytes), 4);
    assert_memory_equal(bytes, "6789", 4);
    assert_int_equal(jr_jit_code_find(world->space, 0x2001, 60, &code), 0);
    assert_string_equal(code.name, "later g");
    assert_int_equal(jr_jit_code_bytes(&code, bytes, sizeof bytes), 0);
    assert_int_equal(jr_jit_code_find(world->space, 0x3000, 40, &code), -1);
    drop(world);
}

static void says_once_what_is_missing(void **state)
{
    struct world *world =
        build(BEGIN "10 jitdump path=/nonexistent/d dev=8:1 inode=5 size=1\n"
                    "20 jitdump path=/nonexistent/d dev=8:1 inode=5 size=2\n");

    (void)state;
    expect(world, 0x1000, 5, "[jit]");
    expect(world, 0x1001, 5, "[jit]");
    assert_int_equal(world->diag.warnings, 1);
    assert_int_equal(jr_space_jit(world->space).files, 0);
    drop(world);
}

static void prefers_the_whole_file(void **state)
{
    struct bytes dump = {0};
    struct stat info;
    char path[128], text[512];

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_load(&dump, 10, 0x1000, 0x100, "f");
    put_file("cut", dump.data, 40);
    put_file("dump", dump.data, dump.size);
    snprintf(path, sizeof path, "%s/dump", folder);
    assert_int_equal(stat(path, &info), 0);
    for (unsigned other = 0; other < 2; other++) {
        struct world *world;

        snprintf(text, sizeof text,
                 BEGIN "10 jitdump path=%s inode=%lu size=%zu saved=cut\n",
                 path, (unsigned long)info.st_ino + other, dump.size);
        world = build(text);
        expect(world, 0x1000, 20, other ? "[jit]" : "f");
        assert_int_equal(world->diag.warnings, 0);
        drop(world);
    }
    free(dump.data);
}

static uint64_t shaped(int shape, uint64_t i, uint64_t count)
{
    switch (shape) {
    case 0:
        return i * 0x9e3779b97f4a7c15ULL >> 20;
    case 1:
        return 5;
    case 2:
        return count - i;
    case 3:
        return i < count / 2 ? i : count - i;
    default:
        return i % 7;
    }
}

static void sorts_pieces(void **state)
{
    enum { MOST = 3000 };
    struct jr_jit_piece *pieces = calloc(MOST, sizeof *pieces);

    (void)state;
    for (int shape = 0; shape < 5; shape++) {
        for (size_t count = 0; count < MOST; count = count * 3 / 2 + 1) {
            uint64_t before = 0, after = 0;

            for (size_t i = 0; i < count; i++) {
                pieces[i].start = shaped(shape, i, count);
                pieces[i].from_ns = i * 7919 % 101;
                before += pieces[i].start * (pieces[i].from_ns + 1);
            }
            jr_jit_sort(pieces, count);
            for (size_t i = 0; i < count; i++) {
                after += pieces[i].start * (pieces[i].from_ns + 1);
                if (i)
                    assert_true(pieces[i - 1].start < pieces[i].start ||
                                (pieces[i - 1].start == pieces[i].start &&
                                 pieces[i - 1].from_ns <= pieces[i].from_ns));
            }
            assert_true(before == after);
        }
    }
    free(pieces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_what_a_load_touches),
        cmocka_unit_test(moves_and_closes),
        cmocka_unit_test(layers_dump_over_perf_map),
        cmocka_unit_test(reads_several_dumps),
        cmocka_unit_test(dates_arch_times_by_sightings),
        cmocka_unit_test(leaves_out_another_process),
        cmocka_unit_test(gives_lines),
        cmocka_unit_test(saves_lines_from_garbage),
        cmocka_unit_test(reads_bytes_of_kept_memory),
        cmocka_unit_test(says_once_what_is_missing),
        cmocka_unit_test(prefers_the_whole_file),
        cmocka_unit_test(sorts_pieces),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
