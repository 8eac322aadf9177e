/* SPDX-License-Identifier: MIT
 *
 * Coverage: processes in several time namespaces, whose clocks differ.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "covered.h"
#include "model/cover/cover_sum.h"

#define DAY (86400ULL * 1000000000)
#define OUTER 11U /* time namespaces, */
#define INNER 12U /* whose CLOCK_MONOTONIC is a day ahead */

/* Process 1 waited for 2, which executed a program in another time namespace;
 * both of its programs computed for 100 ms. */
static void add_pair(struct jr_cover *cover, struct jr_tree *tree,
                     struct jr_cover_image second)
{
    add(cover, tree,
        (struct jr_cover_image){.pid = 1,
                                .time_space = OUTER,
                                .midnight_ns = 5 * DAY,
                                .begin_ns = 1000 * MS,
                                .read_ns = 3000 * MS,
                                .cpu_ns = 10 * MS,
                                .sampled_ns = 10 * MS,
                                .children_ns = 200 * MS});
    add(cover, tree,
        (struct jr_cover_image){.pid = 2,
                                .ppid = 1,
                                .start_ticks = 110,
                                .time_space = OUTER,
                                .midnight_ns = 5 * DAY,
                                .begin_ns = 1100 * MS,
                                .read_ns = 1200 * MS,
                                .cpu_ns = 100 * MS,
                                .sampled_ns = 100 * MS});
    second.pid = 2;
    second.ppid = 1;
    second.time_space = INNER;
    second.midnight_ns = 4 * DAY;
    second.begin_ns = DAY + 1200 * MS;
    second.read_ns = DAY + 1300 * MS;
    add(cover, tree, second);
}

static void joins_over_an_exec(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("1400000000 jprof-child root=1 pid=2 ppid=1 cpu=200000000\n"
          "1500000000 jprof-run root=1 pid=1 cpu=210000000 wall=500000000\n",
          &tree, 0);
    add_pair(&cover, &tree,
             (struct jr_cover_image){.start_ticks = 8640110,
                                     .before_ns = 100 * MS,
                                     .cpu_ns = 200 * MS,
                                     .sampled_ns = 100 * MS,
                                     .ended = 1});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.nprocesses, 2);
    assert_int_equal(cover.cpu_ns, 210 * MS);
    assert_int_equal(cover.sampled_ns, 210 * MS);
    assert_int_equal(cover.ngaps, 0);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* Processes of one pid, each of which was waited for, stay two. */
static void keeps_two_apart(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("1190000000 jprof-child root=1 pid=2 ppid=1 cpu=100000000\n"
          "1400000000 jprof-child root=1 pid=2 ppid=1 cpu=220000000\n",
          &tree, 0);
    add_pair(&cover, &tree,
             (struct jr_cover_image){.start_ticks = 8640119,
                                     .before_ns = 100 * MS,
                                     .cpu_ns = 220 * MS,
                                     .sampled_ns = 120 * MS,
                                     .ended = 1});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.nprocesses, 3);
    assert_int_equal(cover.cpu_ns, (10 + 100 + 220) * MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* A clock that went back is another process's, of another pid namespace or of
 * the same. */
static void keeps_other_clocks_apart(void **state)
{
    static const struct jr_cover_image seconds[] = {
        {.before_ns = 50 * MS, .cpu_ns = 150 * MS},
        {.before_ns = 100 * MS, .cpu_ns = 200 * MS, .space = 7}};

    (void)state;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        struct jr_cover cover = {0};
        struct jr_tree tree;
        struct jr_cover_image second = seconds[i];

        parse("", &tree, 0);
        second.start_ticks = 8640119;
        add_pair(&cover, &tree, second);
        jr_cover_finish(&cover, 1);
        assert_int_equal(cover.nprocesses, 3);
        jr_cover_free(&cover);
        jr_tree_file_free(&tree);
    }
}

/* A child of the second program is its child and no orphan, whose line it wrote
 * by its own clock; and the reason that a process gave there belongs to it. */
static void moves_lines(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;
    const struct jr_cover_process *found = NULL;
    char text[512];

    (void)state;
    snprintf(text, sizeof text,
             "%llu jprof-exec root=1 pid=3 ppid=2 why=static "
             "path=%%2f%%61\n"
             "%llu jprof-child root=1 pid=3 ppid=2 cpu=80000000\n"
             "1400000000 jprof-child root=1 pid=2 ppid=1 cpu=280000000\n",
             DAY + 1210 * MS, DAY + 1290 * MS);
    parse(text, &tree, 0);
    add_pair(&cover, &tree,
             (struct jr_cover_image){.start_ticks = 8640110,
                                     .before_ns = 100 * MS,
                                     .cpu_ns = 200 * MS,
                                     .sampled_ns = 100 * MS,
                                     .children_ns = 80 * MS,
                                     .ended = 1});
    jr_cover_finish(&cover, 1);
    assert_int_equal(tree.lines[0].time_ns, 1210 * MS);
    assert_int_equal(tree.lines[1].time_ns, 1290 * MS);
    assert_int_equal(tree.lines[2].time_ns, 1400 * MS);
    assert_int_equal(cover.nprocesses, 3);
    for (size_t i = 0; i < cover.nprocesses; i++)
        if (cover.processes[i].last.pid == 3)
            found = &cover.processes[i];
    assert_non_null(found);
    assert_int_equal(found->own_ns, 80 * MS);
    assert_ptr_equal(found->reason, &tree.lines[0]);
    assert_int_equal(cover.cpu_ns, (10 + 200 + 80) * MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* Of one that shares its parent's memory the reason holds until it executes a
 * program, which has a log. */
static void shares_memory_until_an_exec(void **state)
{
    (void)state;
    for (int logs = 0; logs < 2; logs++) {
        struct jr_cover cover = {0};
        struct jr_tree tree;

        parse("1200000000 jprof-exec root=1 pid=2 ppid=1 why=memory\n"
              "1400000000 jprof-child root=1 pid=2 ppid=1 cpu=100000000\n",
              &tree, 0);
        add(&cover, &tree,
            (struct jr_cover_image){.pid = 1,
                                    .begin_ns = 1000 * MS,
                                    .cpu_ns = 10 * MS,
                                    .sampled_ns = 10 * MS,
                                    .children_ns = 100 * MS});
        if (logs)
            add(&cover, &tree,
                (struct jr_cover_image){.pid = 2,
                                        .ppid = 1,
                                        .begin_ns = 1100 * MS,
                                        .cpu_ns = 100 * MS,
                                        .ended = 1});
        jr_cover_finish(&cover, 1);
        assert_int_equal(cover.ngaps, 1);
        assert_int_equal(strstr(cover.gaps[0].why, "shares the memory") == NULL,
                         logs);
        jr_cover_free(&cover);
        jr_tree_file_free(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_over_an_exec),
        cmocka_unit_test(keeps_two_apart),
        cmocka_unit_test(keeps_other_clocks_apart),
        cmocka_unit_test(moves_lines),
        cmocka_unit_test(shares_memory_until_an_exec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
