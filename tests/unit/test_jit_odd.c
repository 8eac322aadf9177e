/* SPDX-License-Identifier: MIT
 *
 * JIT files as they should not be: damaged by two writers, a parent's, line
 * tables that are longer than the code.
 * Runs in: unit tests, in the top folder of the sources. */
#include <sys/resource.h>

#include "jit_world.h"

/* Two processes that write to one file damage it in places. */
static void reads_on_behind_damage(void **state)
{
    static const uint8_t garbage[] = "z_ of a record that another was put into";
    struct bytes dump = {0};
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_load(&dump, 20, 0x1000, 0x100, "before");
    put(&dump, garbage, sizeof garbage);
    put_load(&dump, 30, 0x2000, 0x100, "behind");
    put_load(&dump, 40, 0x3000, 0x100, "more");
    world = build_with(&dump, BEGIN DUMP);
    expect(world, 0x1000, 50, "before");
    expect(world, 0x2000, 50, "behind");
    expect(world, 0x3000, 50, "more");
    assert_int_equal(world->diag.warnings, 1);
    drop(world);
}

/* The end of a killed process's dump is missing: V8 writes 4 KiB at a time.
 * What its perf map has since then counts. */
static void goes_by_the_map_behind_a_cut(void **state)
{
    static const char map[] = "1000 100 old\n"   /* 13 */
                              "2000 100 stays\n" /* 28 */
                              "1000 100 new\n";  /* 41 */
    static const char text[] = BEGIN DUMP
        "25 perfmap path=/nonexistent/p inode=6 size=28\n"
        "60 perfmap path=/nonexistent/p inode=6 size=41 saved=map since=50\n";
    struct bytes dump = {0}, again = {0};
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_load(&dump, 20, 0x1000, 0x100, "old");
    put_load(&dump, 21, 0x2000, 0x100, "stays");
    put(&again, dump.data, dump.size);
    put_file("map", map, sizeof map - 1);
    world = build_with(&dump, text);
    expect(world, 0x1000, 40, "old");
    expect(world, 0x1000, 60, "new");
    expect(world, 0x2000, 60, "stays");
    drop(world);
    /* One that ended wrote all that there was; so the map is late. */
    world = build_with(
        &again, BEGIN DUMP
        "25 perfmap path=/nonexistent/p inode=6 size=28\n"
        "60 perfmap path=/nonexistent/p inode=6 size=41 saved=map since=50\n"
        "70 exit cpu=1\n");
    expect(world, 0x1000, 60, "old");
    drop(world);
}

/* Bytes that are neither the dump's code nor a fill. */
static void put_other_code(uint8_t *memory, size_t size)
{
    for (size_t i = 0; i < size; i++)
        memory[i] = (uint8_t)(i * 11 + 0x55);
}

/* JavaScriptCore's dump lacks code that still ran at the end: where memory had
 * other bytes than the last record says, the dead function's name is wrong. */
static void names_nothing_where_other_code_was(void **state)
{
    struct bytes dump = {0};
    uint8_t memory[3][0x100];
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_load(&dump, 20, 0x1000, 0x100, "f");
    memcpy(memory[0], dump.data + dump.size - 0x100, 0x100);
    memcpy(memory[1], memory[0], 0x100);
    memset(memory[1] + 0x20, 0x55, 0x60); /* patched */
    put_other_code(memory[2], 0x100);
    put_file("code", memory, sizeof memory);
    world = build_with(&dump, BEGIN DUMP
                       "30 code start=1000 end=1100 offset=0 saved=code\n"
                       "40 code start=1000 end=1100 offset=100 saved=code\n"
                       "60 code start=1000 end=1100 offset=200 saved=code\n");
    expect(world, 0x1010, 25, "f");
    expect(world, 0x1010, 40, "f");
    expect(world, 0x1010, 41, "[jit]");
    expect(world, 0x1010, 70, "[jit]");
    assert_true(jr_space_jit(world->space).mismatched > 0);
    drop(world);
}

/* A runtime fills code that it frees, as V8 does with int3 behind a header of
 * its own, or gives the memory back, which then reads as zeros: a name ends
 * there, not at the last copy that had the code. */
static void names_code_until_it_was_wiped(void **state)
{
    static const uint8_t fills[] = {0, 0xcc, 0x90};
    struct world *world;

    (void)state;
    for (size_t i = 0; i < sizeof fills; i++) {
        struct bytes dump = {0};
        uint8_t memory[4][0x100];

        put_header(&dump, 1, 40, 0);
        put_load(&dump, 20, 0x1000, 0x100, "f");
        memcpy(memory[0], dump.data + dump.size - 0x100, 0x100);
        memset(memory[1], fills[i], 0x100);
        if (i != 0)
            put_other_code(memory[1], 24);
        memset(memory[2], fills[i], 0x100);
        put_other_code(memory[3], 0x100);
        put_file("code", memory, sizeof memory);
        world = build_with(&dump, BEGIN DUMP
                           "30 code start=1000 end=1100 offset=0 saved=code\n"
                           "60 code start=1000 end=1100 offset=100 saved=code\n"
                           "70 code start=1000 end=1100 offset=200 saved=code\n"
                           "90 code start=1000 end=1100 offset=300 "
                           "saved=code\n");
        expect(world, 0x1010, 25, "f");
        expect(world, 0x1080, 59, "f");
        expect(world, 0x1010, 59, "f");
        expect(world, 0x1080, 60, "f");
        expect(world, 0x1080, 61, "[jit]");
        expect(world, 0x1080, 80, "[jit]");
        expect(world, 0x1080, 95, "[jit]");
        assert_int_equal(jr_space_jit(world->space).wiped, 1);
        assert_int_equal(jr_space_jit(world->space).mismatched, 0);
        drop(world);
    }
}

/* A copy made while the code was being written has no more to say. */
static void names_code_that_came_back(void **state)
{
    struct bytes dump = {0};
    uint8_t memory[2][0x100] = {{0}};
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_load(&dump, 20, 0x1000, 0x100, "f");
    memcpy(memory[1], dump.data + dump.size - 0x100, 0x100);
    put_file("code", memory, sizeof memory);
    world = build_with(&dump, BEGIN DUMP
                       "30 code start=1000 end=1100 offset=0 saved=code\n"
                       "60 code start=1000 end=1100 offset=100 saved=code\n");
    expect(world, 0x1010, 25, "f");
    expect(world, 0x1010, 45, "f");
    expect(world, 0x1010, 70, "f");
    assert_int_equal(jr_space_jit(world->space).mismatched, 0);
    drop(world);
}

/* A dump with one function, of which memory has a copy at 30 and other bytes
 * at 60. */
static struct world *build_changed(const char *text)
{
    struct bytes dump = {0};
    uint8_t memory[2][0x100];

    put_header(&dump, 1, 40, 0);
    put_load(&dump, 20, 0x1000, 0x100, "f");
    memcpy(memory[0], dump.data + dump.size - 0x100, 0x100);
    put_other_code(memory[1], 0x100);
    put_file("code", memory, sizeof memory);
    return build_with(&dump, text);
}

#define COPIED_30 "30 code start=1000 end=1100 offset=0 saved=code\n"
#define COPIED_60 "60 code start=1000 end=1100 offset=100 saved=code\n"

/* Memory that was given back may hold anything afterwards (Wasmtime's command,
 * at its end): a copy says nothing of the time before. */
static void names_code_of_memory_given_back(void **state)
{
    struct world *world;

    (void)state;
    world = build_changed(BEGIN DUMP COPIED_30
                          "50 unmap start=1000 end=2000\n" COPIED_60);
    expect(world, 0x1010, 25, "f");
    expect(world, 0x1010, 45, "f");
    assert_int_equal(jr_space_jit(world->space).mismatched, 0);
    drop(world);
    /* And what came to its place is other code. */
    world = build_changed(BEGIN DUMP COPIED_30
                          "50 unmap start=1000 end=2000\n"
                          "55 anon start=1000 end=3000\n" COPIED_60);
    expect(world, 0x1010, 45, "f");
    expect(world, 0x1010, 57, "[jit]");
    drop(world);
    /* A mapping that grew is the same memory. */
    world = build_changed(BEGIN DUMP COPIED_30
                          "50 anon start=1000 end=a000\n" COPIED_60);
    expect(world, 0x1010, 25, "f");
    expect(world, 0x1010, 45, "[jit]");
    assert_int_equal(jr_space_jit(world->space).mismatched, 1);
    drop(world);
}

/* A perf map that has the same function, by the same name, counts more than a
 * copy of memory does; one that has another there does not. */
static void believes_a_dump_and_a_map_that_agree(void **state)
{
    static const char *const maps[] = {"1000 100 f\n", "1000 100 g\n",
                                       "1000 180 f\n"};
    static const char *const names[] = {"f", "[jit]", "[jit]"};
    struct world *world;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        put_file("map", maps[i], 11);
        world = build_changed(
            BEGIN DUMP COPIED_30
            "40 perfmap path=/nonexistent/p inode=6 size=11 saved=map "
            "since=35\n" COPIED_60 "90 exit cpu=1\n");
        expect(world, 0x1010, 25, "f");
        expect(world, 0x1010, 35, names[i]);
        expect(world, 0x1010, 45, names[i]);
        expect(world, 0x1010, 70, names[i]);
        drop(world);
    }
}

/* Limits the CPU time of the process to `seconds` more than it has had, beyond
 * which SIGXCPU ends it; 0: no limit. */
static void limit_cpu(unsigned seconds)
{
    struct rlimit limit;
    struct rusage used;

    assert_int_equal(getrusage(RUSAGE_SELF, &used), 0);
    assert_int_equal(getrlimit(RLIMIT_CPU, &limit), 0);
    limit.rlim_cur = seconds ? (rlim_t)used.ru_utime.tv_sec +
                                   (rlim_t)used.ru_stime.tv_sec + seconds
                             : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_CPU, &limit), 0);
}

/* A hole, as a runtime leaves that makes its file ready in advance, is passed
 * over, not read: a TiB would take minutes. */
static void passes_over_holes(void **state)
{
    struct bytes dump = {0}, more = {0};
    struct world *world;
    char path[128];
    FILE *file;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_load(&dump, 20, 0x1000, 0x100, "before");
    put_load(&more, 30, 0x2000, 0x100, "behind");
    put_load(&more, 40, 0x3000, 0x100, "more");
    put_file("dump", dump.data, dump.size);
    snprintf(path, sizeof path, "%s/dump", folder);
    file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseeko(file, 1LL << 40, SEEK_SET), 0);
    assert_int_equal(fwrite(more.data, 1, more.size, file), more.size);
    assert_int_equal(fclose(file), 0);
    free(dump.data);
    free(more.data);
    limit_cpu(20);
    world = build(BEGIN DUMP);
    expect(world, 0x1000, 50, "before");
    expect(world, 0x2000, 50, "behind");
    expect(world, 0x3000, 50, "more");
    limit_cpu(0);
    assert_int_equal(world->diag.warnings, 0);
    drop(world);
    unlink(path);
}

/* What a child has of its parent's files is what they held at the fork. */
static void takes_the_parents_until_the_fork(void **state)
{
    static const char map[] = "5000 100 JS:*mapped\n" /* 20 */
                              "5000 100 JS:*after\n";
    struct bytes dump = {0};
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    poke32(&dump, 20, 6);
    put_load_of(&dump, 6, 20, 0x1000, 0x100, "inherited");
    put_load_of(&dump, 6, 120, 0x1000, 0x100, "the parent's");
    put_file("map", map, sizeof map - 1);
    world =
        build_with(&dump, BEGIN
                   "110 perfmap path=/nonexistent/p inode=6 size=20 saved=map "
                   "inherited=1\n"
                   "110 jitdump path=/nonexistent/d inode=5 size=1 saved=dump "
                   "inherited=1\n");
    expect(world, 0x1000, 140, "inherited");
    expect(world, 0x5000, 105, "mapped");
    expect(world, 0x5000, 140, "mapped");
    drop(world);
}

/* A child that could not keep its parent's map has the one beside the parent's
 * log, unless another file has that name, or two have. */
static void takes_what_the_parent_kept(void **state)
{
    static const char map[] = "5000 100 JS:*mapped\n";
    static const char *const lines[] = {
        BEGIN "110 perfmap path=/nonexistent/perf-7.map dev=0:0 inode=6 "
              "size=20 inherited=1\n",
        BEGIN "110 perfmap path=/nonexistent/perf-7.map dev=0:0 inode=6 "
              "size=20 tail=12345 inherited=1\n",
        BEGIN "110 perfmap path=/nonexistent/perf-7.map dev=0:0 inode=6 "
              "size=20\n",
        BEGIN "110 perfmap path=/nonexistent/perf-70.map dev=0:0 inode=6 "
              "size=20 inherited=1\n"};

    (void)state;
    put_file("jprof-log-7.perf-7.map", map, sizeof map - 1);
    put_file("jprof-log-7.perf-7.map.bak", map, sizeof map - 1);
    for (size_t i = 0; i <= sizeof lines / sizeof *lines; i++) {
        struct world *world;

        if (i == sizeof lines / sizeof *lines)
            put_file("jprof-log.perf-7-2.map", map, sizeof map - 1);
        world = build(lines[i % (sizeof lines / sizeof *lines)]);
        expect(world, 0x5000, 140, i == 0 ? "mapped" : "[jit]");
        drop(world);
    }
}

/* Erlang's tables begin before the code, one of SpiderMonkey's ends behind it:
 * entries are fitted in, and say that nothing is added to addresses. */
static void fits_lines_to_the_code(void **state)
{
    static const struct entry outer[] = {{0x0fd0, 2, 0, "zoo.erl"},
                                         {0x0fe0, 3, 0, "\xff"},
                                         {0x1030, 5, 0, "\xff"},
                                         {0x1105, 9, 0, "\xff"}};
    static const struct entry far[] = {{0x1000, 2, 0, "zoo.erl"},
                                       {0x9000, 3, 0, "\xff"}};
    struct bytes dump = {0};
    struct world *world;

    (void)state;
    put_header(&dump, 1, 40, 0);
    put_debug(&dump, 10, 0x1000, outer, 4);
    put_load(&dump, 10, 0x1000, 0x100, "f");
    put_debug(&dump, 10, 0x2000, far, 2);
    put_load(&dump, 10, 0x2000, 0x100, "g");
    world = build_with(&dump, BEGIN DUMP);
    assert_int_equal(find(world, 0x1000, 20)->line, 3);
    assert_string_equal(find(world, 0x1000, 20)->file, "zoo.erl");
    assert_int_equal(find(world, 0x102f, 20)->line, 3);
    assert_int_equal(find(world, 0x1030, 20)->line, 5);
    assert_int_equal(find(world, 0x10ff, 20)->line, 5);
    assert_int_equal(jr_space_jit(world->space).bad_lines, 0);
    assert_int_equal(find(world, 0x2000, 20)->line, 0);
    assert_int_equal(jr_space_jit(world->space).bad_lines, 1);
    drop(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_on_behind_damage),
        cmocka_unit_test(goes_by_the_map_behind_a_cut),
        cmocka_unit_test(names_nothing_where_other_code_was),
        cmocka_unit_test(names_code_until_it_was_wiped),
        cmocka_unit_test(names_code_that_came_back),
        cmocka_unit_test(names_code_of_memory_given_back),
        cmocka_unit_test(believes_a_dump_and_a_map_that_agree),
        cmocka_unit_test(passes_over_holes),
        cmocka_unit_test(takes_the_parents_until_the_fork),
        cmocka_unit_test(takes_what_the_parent_kept),
        cmocka_unit_test(fits_lines_to_the_code),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
