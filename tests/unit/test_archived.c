/* SPDX-License-Identifier: MIT
 *
 * The file of names of an archive: what it says, where it is damaged, and the
 * heads of files in the archive.
 * Runs in: unit tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "archive/member.h"
#include "archive/tar.h"
#include "symbol/archived/archived.h"

static const char sound[] = "jprof-names 1\n"
                            "s key%20one\n"
                            "s /bin/app\n"
                            "s app-dbgsym\n"
                            "m 1 1 2 3 62\n"
                            "g 0 1000 400000 0\n"
                            "g 1000 2000 401000 1\n"
                            "s std::sort<int, %25>\n"
                            "s main\n"
                            "s a.c\n"
                            "z of a later version\n"
                            "f 0 1 4 0 6 12 3 0\n"
                            "f 0 0 5 0 6 40 0 0 more of it\n"
                            "a 401010 1 2\n"
                            "a 401020 2\n"
                            "e 401010 401000 401040\n"
                            "b 401000 90c3\n"
                            "t 6 3\n"
                            "s key two\n"
                            "m 2 7 2 0 0\n";

struct world {
    struct jr_diag diag;
    struct jr_strings *strings;
    struct jr_archived *archived;
};

static void make(struct world *world, const char *text, size_t size)
{
    *world = (struct world){.diag = {.silent = 1}};
    world->strings = jr_strings_new();
    world->archived = jr_archived_new(world->strings);
    jr_archived_parse(world->archived, text, size, "names", &world->diag);
}

static void end(struct world *world)
{
    jr_archived_free(world->archived);
    jr_strings_free(world->strings);
}

static const struct jr_archived_module *find(struct world *world,
                                             const char *key)
{
    return jr_archived_module(world->archived,
                              jr_strings_add(world->strings, key, strlen(key)));
}

static void tells_what_it_says(void **state)
{
    const struct jr_archived_module *module;
    const struct jr_frame *frames;
    const char *names;
    struct jr_mapping mapping = {
        .start = 0x7000, .end = 0x9000, .offset = 0x1000};
    struct world world;
    uint64_t address, start, finish;
    uint8_t bytes[8];

    (void)state;
    make(&world, sound, sizeof sound - 1);
    assert_int_equal(world.diag.warnings, 0);
    module = find(&world, "key one");
    assert_non_null(module);
    assert_true(module->usable && !module->changed);
    assert_string_equal(module->package, "app-dbgsym");
    assert_string_equal(jr_archived_package(world.archived, "/bin/app"),
                        "app-dbgsym");
    assert_null(jr_archived_package(world.archived, "/bin/other"));
    assert_int_equal(
        jr_segments_address(&module->segments, &mapping, 0x7010, &address), 0);
    assert_int_equal(address, 0x401010);
    assert_int_equal(
        jr_archived_place(world.archived, module, address, &frames), 2);
    assert_string_equal(frames[0].name, "std::sort<int, %>");
    assert_true(frames[0].inlined && !frames[1].inlined);
    assert_int_equal(frames[0].line, 12);
    assert_int_equal(frames[0].column, 3);
    assert_string_equal(frames[1].name, "main");
    assert_string_equal(frames[1].file, "a.c");
    assert_int_equal(
        jr_archived_place(world.archived, module, 0x401011, &frames), 0);
    assert_int_equal(module->machine, 62);
    jr_archived_extent(world.archived, module, 0x401010, &start, &finish);
    assert_true(start == 0x401000 && finish == 0x401040);
    jr_archived_extent(world.archived, module, 0x401011, &start, &finish);
    assert_true(start == 0 && finish == 0);
    assert_int_equal(jr_archived_bytes(module, 0x401001, bytes, 8), 1);
    assert_int_equal(bytes[0], 0xc3);
    assert_int_equal(jr_archived_bytes(module, 0x401002, bytes, 8), 0);
    assert_int_equal(jr_archived_bytes(module, 0x400fff, bytes, 8), 0);
    assert_int_equal(jr_archived_source(world.archived, "a.c", &names), 3);
    assert_string_equal(names, "names");
    assert_int_equal(jr_archived_source(world.archived, "b.c", &names), 0);
    module = find(&world, "key two");
    assert_true(module && !module->usable && module->changed);
    assert_null(module->package);
    assert_null(find(&world, "key three"));
    end(&world);
}

/* Each line that cannot be says so, and what was before it holds. */
static void refuses_what_cannot_be(void **state)
{
    static const char *const bad[] = {"",
                                      "m 1 1 2 0",
                                      "m 1 1 2 0 65536",
                                      "e 5 6 7",
                                      "e 5 4 5",
                                      "e 5",
                                      "b 1 9",
                                      "b 1 9g",
                                      "b 1",
                                      "b ffffffffffffffff 9090",
                                      "t 0 1",
                                      "t 6 0",
                                      "x",
                                      "s",
                                      "s %4",
                                      "s %zz",
                                      "m 1 1",
                                      "m 1 9 2 0 0",
                                      "m 1 0 2 0 0",
                                      "m 1 1 0 0 0",
                                      "m 1 -1 2 0 0",
                                      "g 0 0 0",
                                      "g 0 0 0 2",
                                      "g x 0 0 0",
                                      "f 0 0 1 0 0",
                                      "f 2 0 1 0 0 0 0 0",
                                      "a",
                                      "a 1",
                                      "a 1 0",
                                      "a 1 3",
                                      "a 1 1  2",
                                      "a x 1",
                                      "f 0 0 0 0 0 0 0 0",
                                      "f 0 2 1 0 0 0 0 0",
                                      "f 0 0 1 0 0 4294967296 0 0",
                                      "f 0 0 1 0 0 99999999999999999999 0 0"};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[sizeof sound + 100];
        const struct jr_frame *frames;
        struct world world;

        strcpy(text, sound);
        strcat(text, bad[i]);
        strcat(text, "\na 401030 1\n");
        make(&world, text, strlen(text));
        assert_int_equal(world.diag.warnings, 1);
        assert_int_equal(jr_archived_place(world.archived,
                                           find(&world, "key one"), 0x401010,
                                           &frames),
                         2);
        assert_int_equal(jr_archived_place(world.archived,
                                           find(&world, "key two"), 0x401030,
                                           &frames),
                         0);
        end(&world);
    }
}

static void is_whole_or_says_so(void **state)
{
    (void)state;
    for (size_t size = 0; size < sizeof sound - 1; size++) {
        const char last = size ? sound[size - 1] : '\0';
        struct world world;

        make(&world, sound, size);
        assert_int_equal(world.diag.warnings,
                         size > strlen(JR_ARCHIVED_HEAD) && last == '\n' ? 0
                                                                         : 1);
        end(&world);
    }
}

static void knows_names(void **state)
{
    static const char *const good[] = {"jprof-log",
                                       "jprof-log-12",
                                       "jprof-log-12-2",
                                       "jprof-map-7",
                                       "jprof-tree",
                                       "jprof-names",
                                       "jprof-log.perf-1.map",
                                       "jprof-log-3.jit-3.dump",
                                       "jprof-log.code-3.bin",
                                       "jprof-source-12"};
    static const char *const bad[] = {"",
                                      ".",
                                      "..",
                                      "/etc/passwd",
                                      "../jprof-log",
                                      "jprof-log/x",
                                      "jprof-log/../../x.perf-1",
                                      "report.html",
                                      "jprof-logs",
                                      "jprof-tree-1",
                                      ".jprof-log",
                                      "x/jprof-names",
                                      "jprof-source-",
                                      "jprof-source-1/2"};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(jr_member_is_known(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(jr_member_is_known(bad[i]));
}

static void takes_only_regular_files(void **state)
{
    struct jr_tar_file file = {.name = "jprof-log", .size = 077777777777}, got;
    uint8_t block[JR_TAR_BLOCK], zeros[JR_TAR_BLOCK] = {0};
    const char *why;

    (void)state;
    jr_tar_put(&file, block);
    assert_int_equal(jr_tar_take(block, &got, &why), 0);
    assert_string_equal(got.name, "jprof-log");
    assert_int_equal(got.size, file.size);
    assert_int_equal(jr_tar_take(zeros, &got, &why), 1);
    /* A link: the type is 0 + 2, the checksum's last digit too. */
    jr_tar_put(&(struct jr_tar_file){.name = "jprof-log"}, block);
    block[156] += 2;
    block[153] = (uint8_t)(block[153] + 2);
    if (block[153] > '7') {
        block[153] = (uint8_t)(block[153] - 8);
        block[152]++;
    }
    assert_int_equal(jr_tar_take(block, &got, &why), -1);
    assert_string_equal(why, "a file that is no regular one");
    block[0] ^= 1;
    assert_int_equal(jr_tar_take(block, &got, &why), -1);
    assert_string_equal(why, "no head of a file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_it_says),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(is_whole_or_says_so),
        cmocka_unit_test(knows_names),
        cmocka_unit_test(takes_only_regular_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
