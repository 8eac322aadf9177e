/* SPDX-License-Identifier: MIT
 *
 * Addresses at a time: modules that come and go, changed files, the vdso,
 * perf maps whose lines have times.
 * Runs in: unit tests. */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "read/map.h"
#include "symbol/elf/elf.h"
#include "symbol/symbol.h"
#include "symbol/elf/vdso.h"

#define BEGIN "0 jprof-map version=1 pid=7 start=99 log=jprof-log\n"

/* A map, and everything over it. */
struct world {
    struct jr_diag diag;
    struct jr_map map;
    struct jr_symbols *symbols;
    struct jr_space *space;
};

static char folder[] = "/tmp/jprof-test-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char *line;

    (void)state;
    if (asprintf(&line, "rm -rf %s", folder) < 0 || system(line) != 0)
        return -1;
    free(line);
    return 0;
}

static void put_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct world *build(const char *text)
{
    struct world *world = calloc(1, sizeof *world);

    world->map.path = strdup("map");
    world->map.pid = 7;
    world->map.start_ticks = 99;
    assert_int_equal(jr_map_parse((const uint8_t *)text, strlen(text),
                                  &world->map, &world->diag),
                     0);
    assert_int_equal(world->diag.warnings, 0);
    world->symbols =
        jr_symbols_new(&world->diag, &(struct jr_symbols_options){0});
    world->space = jr_space_new(world->symbols, &world->map, folder);
    return world;
}

static void drop(struct world *world)
{
    jr_space_free(world->space);
    jr_symbols_free(world->symbols);
    jr_map_free(&world->map);
    free(world);
}

static const struct jr_frame *find(struct world *world, uint64_t address,
                                   uint64_t time_ns)
{
    struct jr_hit hit, again;

    jr_space_find(world->space, address, time_ns, 0, &hit);
    assert_int_equal(hit.nframes, 1);
    assert_true(hit.from_ns <= time_ns);
    assert_true(time_ns < hit.until_ns || time_ns == UINT64_MAX);
    /* The answer holds to both ends of its time. */
    jr_space_find(world->space, address, hit.from_ns, 0, &again);
    assert_ptr_equal(again.frames, hit.frames);
    jr_space_find(world->space, address, hit.until_ns - 1, 0, &again);
    assert_ptr_equal(again.frames, hit.frames);
    return hit.frames;
}

static void expect(struct world *world, uint64_t address, uint64_t time_ns,
                   const char *name)
{
    assert_string_equal(find(world, address, time_ns)->name, name);
}

static void names_what_is_in_no_file(void **state)
{
    struct world *world = build(BEGIN "10 anon start=1000 end=2000\n"
                                      "20 unmap start=1000 end=2000\n");

    (void)state;
    assert_int_equal(find(world, 0x1800, 10)->kind, JR_FRAME_JIT_UNNAMED);
    /* The line was written after the sample. */
    assert_int_equal(find(world, 0x1800, 5)->kind, JR_FRAME_JIT_UNNAMED);
    assert_int_equal(find(world, 0x1800, 20)->kind, JR_FRAME_UNKNOWN);
    assert_int_equal(find(world, 0x2000, 15)->kind, JR_FRAME_UNKNOWN);
    expect(world, 0x2000, UINT64_MAX, "[unknown]");
    assert_string_equal(find(world, 0x2000, 15)->module, "");
    drop(world);
}

static struct world *build_with_libc(const char *more, const Dl_info *info,
                                     uint64_t bias)
{
    uint64_t base = (uintptr_t)info->dli_fbase;
    struct world *world;
    char *text;

    assert_true(asprintf(&text,
                         BEGIN "1 module start=%" PRIx64 " end=%" PRIx64
                               " offset=0 bias=%" PRIx64 " %s path=%s\n",
                         base, base + 0x1000000, bias, more,
                         info->dli_fname) > 0);
    world = build(text);
    free(text);
    return world;
}

static void names_functions_of_this_process(void **state)
{
    void *symbol = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    const struct jr_frame *frame;
    struct link_map *module;
    struct world *world;
    struct jr_hit hit;
    Dl_info info;

    (void)state;
    assert_true(dladdr1(symbol, &info, (void **)&module, RTLD_DL_LINKMAP));
    world = build_with_libc("", &info, module->l_addr);
    frame = find(world, (uintptr_t)symbol, 5);
    assert_int_equal(frame->kind, JR_FRAME_NATIVE);
    assert_int_equal(strncmp(frame->module, "libc", 4), 0);
    /* One name, one pointer. */
    assert_ptr_equal(find(world, (uintptr_t)symbol + 1, 5)->name, frame->name);
    /* A return address belongs to the call before it. */
    jr_space_find(world->space, (uintptr_t)symbol + 1, 5, 1, &hit);
    assert_ptr_equal(hit.frames, frame);
    jr_space_find(world->space, (uintptr_t)symbol, 5, 1, &hit);
    assert_ptr_not_equal(hit.frames->name, frame->name);
    assert_int_equal(jr_symbols_changed(world->symbols), 0);
    drop(world);
}

static void uses_no_symbols_of_a_changed_file(void **state)
{
    static const char *const signs[] = {"build_id=0102030405", "mtime=1",
                                        "inode=1"};
    void *symbol = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    Dl_info info;

    (void)state;
    assert_true(dladdr(symbol, &info));
    for (size_t i = 0; i < 3; i++) {
        struct world *world =
            build_with_libc(signs[i], &info, (uintptr_t)info.dli_fbase);
        const struct jr_frame *frame = find(world, (uintptr_t)symbol, 5);
        char wanted[128];

        snprintf(wanted, sizeof wanted, "[%s]", frame->module);
        assert_int_equal(frame->kind, JR_FRAME_UNNAMED);
        assert_string_equal(frame->name, wanted);
        assert_int_equal(jr_symbols_changed(world->symbols), 1);
        drop(world);
    }
}

static void names_the_vdso_by_its_build_id(void **state)
{
    uint64_t base = getauxval(AT_SYSINFO_EHDR);
    struct world *world;
    char *text;

    (void)state;
    if (!base)
        skip();
    /* Another kernel's: its functions are not those of this one. */
    assert_true(asprintf(&text,
                         BEGIN "1 module start=%" PRIx64 " end=%" PRIx64
                               " offset=0 build_id=00 path=[vdso]\n",
                         base, base + 0x4000) > 0);
    world = build(text);
    assert_int_equal(find(world, base + 0x1000, 5)->kind, JR_FRAME_UNNAMED);
    assert_string_equal(find(world, base, 5)->module, "[vdso]");
    drop(world);
    free(text);
}

static void names_functions_of_this_vdso(void **state)
{
    const struct jr_debug_folders none = {0};
    struct jr_elf *elf = jr_elf_open(jr_vdso_open(), "[vdso]", &none);
    uint64_t base = getauxval(AT_SYSINFO_EHDR), symbol;
    char id[65] = "", *text;
    struct world *world;
    const uint8_t *bits;
    size_t size;

    (void)state;
    if (!base || !elf)
        skip();
    size = jr_elf_build_id(elf, &bits);
    for (size_t i = 0; i < size && i < 32; i++)
        sprintf(id + 2 * i, "%02x", bits[i]);
    jr_elf_free(elf);
    assert_true(asprintf(&text,
                         BEGIN "1 module start=%" PRIx64 " end=%" PRIx64
                               " offset=0 build_id=%s path=[vdso]\n",
                         base, base + 0x4000, id) > 0);
    world = build(text);
    symbol = (uintptr_t)dlvsym(dlopen("linux-vdso.so.1", RTLD_NOW),
                               "__vdso_getcpu", "LINUX_2.6");
    if (!symbol)
        skip();
    assert_int_equal(find(world, symbol, 5)->kind, JR_FRAME_NATIVE);
    assert_non_null(strstr(find(world, symbol, 5)->name, "getcpu"));
    assert_string_equal(find(world, symbol, 5)->module, "[vdso]");
    drop(world);
    free(text);
}

static void gives_lines_the_time_of_their_sighting(void **state)
{
    struct world *world;

    (void)state;
    put_file("perf-7.map", "1000 100 old\n"   /* 13 bytes */
                           "1080 100 new\n"   /* 26 */
                           "1400 10 tail\n"   /* 39 */
                           "2000 100 JS:~b\n" /* 54 */
                           "2000 100 code\n");
    world = build(
        BEGIN
        "1 anon start=1000 end=3000\n"
        "10 perfmap path=/x/perf-7.map inode=5 size=13\n"
        "20 perfmap path=/x/perf-7.map inode=5 size=26\n"
        "30 perfmap path=/x/perf-7.map inode=5 size=30 saved=perf-7.map\n");
    expect(world, 0x1000, 5, "old");
    expect(world, 0x1000, 19, "old");
    /* Newer code touched it: what is left of it is not known to live. */
    expect(world, 0x1000, 20, "[jit]");
    expect(world, 0x10c0, 19, "old");
    expect(world, 0x10c0, 20, "new");
    expect(world, 0x1150, 15, "new");
    expect(world, 0x1400, 35, "tail");
    expect(world, 0x1400, 15, "tail");
    expect(world, 0x1500, 15, "[jit]");
    expect(world, 0x2010, 40, "code");
    assert_int_equal(find(world, 0x10c0, 20)->kind, JR_FRAME_JIT);
    assert_string_equal(find(world, 0x10c0, 20)->module, "[jit]");
    assert_int_equal(world->diag.warnings, 0);
    drop(world);
}

static void lets_the_later_line_win(void **state)
{
    struct world *world;

    (void)state;
    put_file("perf-7.map", "1000 100 a\n1000 100 b\n1000 100 b\n"
                           "1040 10 c\n2000 40 JS:~b\n"
                           "2800 40 code\n2800 40 JS:~c\n");
    world = build(
        BEGIN
        "1 anon start=1000 end=3000\n"
        "10 perfmap path=/x/perf-7.map inode=5 size=99 saved=perf-7.map\n");
    expect(world, 0x1045, 50, "c");
    expect(world, 0x1045, 5, "c");
    /* It was written over before the file was first looked at. */
    expect(world, 0x1000, 5, "b");
    expect(world, 0x1000, 50, "[jit]");
    expect(world, 0x2001, 50, "b");
    expect(world, 0x2801, 50, "c");
    drop(world);
}

static void looks_at_sightings_after_a_rewrite_only(void **state)
{
    struct world *world;

    (void)state;
    put_file("perf-7.map", "1000 100 a\n1000 100 b\n");
    world = build(
        BEGIN
        "1 anon start=1000 end=3000\n"
        "10 perfmap path=/x/perf-7.map inode=5 size=99\n"
        "20 perfmap path=/x/perf-7.map inode=5 size=11\n"
        "30 perfmap path=/x/perf-7.map inode=5 size=22 saved=perf-7.map\n");
    expect(world, 0x1000, 25, "a");
    expect(world, 0x1000, 30, "b");
    drop(world);
}

static void keeps_what_is_written_twice(void **state)
{
    struct world *world;
    struct jr_hit hit;

    (void)state;
    put_file("perf-7.map", "1000 100 a\n1000 100 a\n2000 1 x\n"
                           "1800 100 b\n1800 100 c\n");
    world = build(
        BEGIN
        "0 anon start=1000 end=3000\n"
        "10 perfmap path=/x/perf-7.map inode=5 size=11\n"
        "20 perfmap path=/x/perf-7.map inode=5 size=31\n"
        "30 perfmap path=/x/perf-7.map inode=5 size=42\n"
        "40 perfmap path=/x/perf-7.map inode=5 size=53 saved=perf-7.map\n");
    /* The same, or other code of that name: it has its name all the time. */
    for (uint64_t time = 10; time < 50; time += 5) {
        jr_space_find(world->space, 0x1000, time, 0, &hit);
        assert_string_equal(hit.frames->name, "a");
        assert_false(hit.frames->late);
    }
    /* Of the lines that came later, the first. */
    expect(world, 0x1800, 25, "b");
    expect(world, 0x1800, 45, "c");
    drop(world);
}

/* Between the look that found the file as it was and the one that found it
 * grown, old and new code are as likely: neither is named. */
static void names_nothing_between_two_looks(void **state)
{
    struct world *world;

    (void)state;
    put_file("perf-7.map", "1000 100 a\n1000 100 b\n1100 100 c\n");
    world = build(
        BEGIN "1 anon start=1000 end=3000\n"
              "10 perfmap path=/x/perf-7.map inode=5 size=11\n"
              "40 perfmap path=/x/perf-7.map inode=5 size=33 saved=perf-7.map "
              "since=30\n");
    expect(world, 0x1000, 10, "a");
    expect(world, 0x1000, 30, "a");
    expect(world, 0x1000, 31, "[jit]");
    expect(world, 0x1000, 39, "[jit]");
    expect(world, 0x1000, 40, "b");
    /* Nothing else was ever there. */
    expect(world, 0x1100, 31, "c");
    drop(world);
}

/* With --interpreted-frames-native-stack each function has a copy of the
 * interpreter's trampoline, which is code like any other; its bytecode lies in
 * the heap.  The map's mappings tell them apart. */
static void ends_code_for_trampolines(void **state)
{
    struct world *world;

    (void)state;
    put_file("perf-7.map", "1000 100 JS:^old\n"   /* 17 */
                           "5000 100 JS:^other\n" /* 36 */
                           "1080 100 JS:~f\n"     /* 51 */
                           "5000 80 JS:~bytes\n"  /* 69 */
                           "9000 80 JS:~g\n"      /* 83 */
                           "1100 100 JS:*new\n"); /* 100 */
    world = build(
        BEGIN
        "1 anon start=1000 end=3000\n"
        "1 anon start=9000 end=a000\n"
        "30 unmap start=9000 end=a000\n"
        "10 perfmap path=/x/perf-7.map inode=5 size=36\n"
        "20 perfmap path=/x/perf-7.map inode=5 size=51\n"
        "40 perfmap path=/x/perf-7.map inode=5 size=83\n"
        "50 anon start=b000 end=c000\n"
        "60 perfmap path=/x/perf-7.map inode=5 size=100 saved=perf-7.map\n");
    expect(world, 0x1000, 19, "old");
    expect(world, 0x1090, 19, "old");
    expect(world, 0x1000, 25, "[jit]"); /* the rest of old */
    expect(world, 0x1090, 25, "f");
    expect(world, 0x1100, 45, "f");
    expect(world, 0x1100, 60, "new");
    expect(world, 0x1090, 60, "[jit]"); /* the rest of f */
    /* In no executable memory that was seen. */
    expect(world, 0x5000, 45, "other");
    expect(world, 0x9000, 45, "g");
    drop(world);
}

static void replaces_the_content_with_the_inode(void **state)
{
    struct world *world;

    (void)state;
    put_file("first.map", "1000 100 first\n2800 10 gone\n");
    put_file("second.map", "1000 100 second\n2000 100 more\n");
    world = build(
        BEGIN "1 anon start=1000 end=3000\n"
              "10 perfmap path=/x/p.map inode=5 size=28 saved=first.map\n"
              "20 perfmap path=/x/p.map inode=6 size=31 saved=second.map\n");
    expect(world, 0x1000, 5, "first");
    expect(world, 0x1000, 19, "first");
    expect(world, 0x1000, 20, "second");
    expect(world, 0x2000, 5, "more");
    expect(world, 0x2800, 19, "gone");
    expect(world, 0x2800, 20, "[jit]");
    drop(world);
}

static void says_when_a_perf_map_is_gone(void **state)
{
    struct world *world = build(
        BEGIN
        "1 anon start=1000 end=3000\n"
        "10 perfmap path=/nonexistent/p.map inode=5 size=15 saved=../p\n");

    (void)state;
    expect(world, 0x1000, 5, "[jit]");
    expect(world, 0x1001, 5, "[jit]");
    assert_int_equal(world->diag.warnings, 1);
    drop(world);
}

/* A map that came from elsewhere must not make us read any file. */
static void reads_copies_beside_the_log_only(void **state)
{
    char parent[64], path[160], *text;
    const char *const prefixes[] = {"", "./", "sub/../", parent};
    struct world *world;

    (void)state;
    snprintf(parent, sizeof parent, "..%s/", strrchr(folder, '/'));
    snprintf(path, sizeof path, "%s/sub", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    put_file("copy.map", "1000 100 f\n");
    for (int i = 0; i < 4; i++) {
        int bad = i > 0;

        snprintf(path, sizeof path, "%s/%scopy.map", folder, prefixes[i]);
        assert_int_equal(access(path, R_OK), 0);
        assert_true(asprintf(&text,
                             BEGIN "1 anon start=1000 end=3000\n"
                                   "10 perfmap path=/nonexistent/p.map "
                                   "inode=5 size=11 saved=%scopy.map\n",
                             prefixes[i]) > 0);
        world = build(text);
        expect(world, 0x1000, 5, bad ? "[jit]" : "f");
        assert_int_equal(world->diag.warnings, bad);
        drop(world);
        free(text);
    }
}

static void uses_the_original_only_with_its_inode(void **state)
{
    struct stat info;
    char path[128], *text;

    (void)state;
    put_file("original.map", "1000 100 f\n");
    snprintf(path, sizeof path, "%s/original.map", folder);
    assert_int_equal(stat(path, &info), 0);
    for (int wrong = 0; wrong < 2; wrong++) {
        struct world *world;

        assert_true(
            asprintf(&text,
                     BEGIN "1 anon start=1000 end=3000\n"
                           "10 perfmap path=%s inode=%" PRIu64 " size=11\n",
                     path, (uint64_t)info.st_ino + (unsigned)wrong) > 0);
        world = build(text);
        expect(world, 0x1000, 5, wrong ? "[jit]" : "f");
        assert_int_equal(world->diag.warnings, wrong);
        drop(world);
        free(text);
    }
}

static void prefers_symbols_of_files_to_perf_maps(void **state)
{
    void *symbol = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    struct world *world;
    Dl_info info;
    char *text;

    (void)state;
    assert_true(dladdr(symbol, &info));
    assert_true(asprintf(&text,
                         "%" PRIxPTR " 10 builtin\n10 10 nowhere\n"
                         "%" PRIxPTR " 10 header\n",
                         (uintptr_t)symbol, (uintptr_t)info.dli_fbase) > 0);
    put_file("perf-7.map", text);
    free(text);
    assert_true(asprintf(&text,
                         "path=%s offset=0 bias=%" PRIxPTR "\n"
                         "2 perfmap path=/x inode=1 size=9 saved=perf-7.map\n"
                         "3 note text=",
                         info.dli_fname, (uintptr_t)info.dli_fbase) > 0);
    world = build_with_libc(text, &info, (uintptr_t)info.dli_fbase);
    assert_int_equal(find(world, (uintptr_t)symbol, 5)->kind, JR_FRAME_NATIVE);
    expect(world, (uintptr_t)info.dli_fbase, 5, "header");
    expect(world, 0x10, 5, "nowhere");
    drop(world);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_what_is_in_no_file),
        cmocka_unit_test(names_functions_of_this_process),
        cmocka_unit_test(uses_no_symbols_of_a_changed_file),
        cmocka_unit_test(names_the_vdso_by_its_build_id),
        cmocka_unit_test(names_functions_of_this_vdso),
        cmocka_unit_test(gives_lines_the_time_of_their_sighting),
        cmocka_unit_test(lets_the_later_line_win),
        cmocka_unit_test(looks_at_sightings_after_a_rewrite_only),
        cmocka_unit_test(keeps_what_is_written_twice),
        cmocka_unit_test(names_nothing_between_two_looks),
        cmocka_unit_test(ends_code_for_trampolines),
        cmocka_unit_test(replaces_the_content_with_the_inode),
        cmocka_unit_test(says_when_a_perf_map_is_gone),
        cmocka_unit_test(reads_copies_beside_the_log_only),
        cmocka_unit_test(uses_the_original_only_with_its_inode),
        cmocka_unit_test(prefers_symbols_of_files_to_perf_maps),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
