/* SPDX-License-Identifier: MIT
 *
 * Coverage: processes that no sample found, by their own lines.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "covered.h"
#include "model/cover/cover_sum.h"

/* Process 2 executed a program, 3 is another of the same number, 1 waited. */
static void adds_up_programs(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("10 jprof-brief root=1 pid=2 ppid=1 before=1000000 cpu=3000000 "
          "children=0 ended=0\n"
          "11 jprof-brief root=1 pid=2 ppid=1 before=1000000 cpu=3500000 "
          "children=0 ended=0\n"
          "30 jprof-brief root=1 pid=2 ppid=1 before=7000000 cpu=8000000 "
          "children=0 ended=1\n"
          "20 jprof-brief root=1 pid=2 ppid=1 before=5000000 cpu=6000000 "
          "children=0 ended=0\n"
          "40 jprof-brief root=1 pid=2 ppid=1 before=9000000 cpu=9500000 "
          "children=0 ended=1\n",
          &tree, 0);
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 1,
                                .cpu_ns = 40 * MS,
                                .sampled_ns = 42 * MS,
                                .on_ns = 40 * MS,
                                .children_ns = 20 * MS});
    jr_cover_finish(&cover, 1);
    /* 1 to 3.5, 5 to 6, 7 to 8; 9 to 9.5 */
    assert_int_equal(cover.brief_ns, 5 * MS);
    assert_int_equal(cover.before_ns, (1000 + 1500 + 1000 + 9000) * MS / 1000);
    /* What the parent was told and none of these knew is their ends. */
    assert_int_equal(cover.rest_ns, (200 - 80 - 95) * MS / 10);
    assert_int_equal(cover.cpu_ns, 60 * MS);
    assert_int_equal(cover.ngaps, 0);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* A process's programs before and behind the one that has a log. */
static void joins_logs(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("100000000 jprof-brief root=1 pid=2 ppid=1 before=1000000 "
          "cpu=3000000 children=0 ended=0\n"
          "300000000 jprof-brief root=1 pid=2 ppid=1 before=20000000 "
          "cpu=21000000 children=0 ended=1\n"
          "10000000 jprof-brief root=1 pid=2 ppid=1 before=1000000 cpu=2000000 "
          "children=0 ended=1\n",
          &tree, 0);
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 2,
                                .start_ticks = 8,
                                .begin_ns = 200 * MS,
                                .unlogged_ns = 120 * MS,
                                .before_ns = 5 * MS,
                                .cpu_ns = 15 * MS,
                                .sampled_ns = 16 * MS,
                                .on_ns = 10 * MS});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.nprocesses, 2);
    /* All but 1 to 3, 5 to 15 and 20 to 21; and of the other, up to 1. */
    assert_int_equal(cover.before_ns, (21 - 2 - 10 - 1 + 1) * MS);
    assert_int_equal(cover.cpu_ns, (21 + 2) * MS);
    assert_int_equal(cover.brief_ns, MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* A program between two that have logs; then one whose exec failed three
 * times before a sample found it; and one that two threads ended. */
static void counts_each_program_once(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;
    struct jr_cover_image image = {.pid = 2,
                                   .start_ticks = 8,
                                   .begin_ns = 100 * MS,
                                   .read_ns = 110 * MS,
                                   .before_ns = MS,
                                   .cpu_ns = 11 * MS,
                                   .sampled_ns = 10 * MS,
                                   .on_ns = 10 * MS};

    (void)state;
    parse("120000000 jprof-brief root=1 pid=2 ppid=1 before=12000000 "
          "cpu=15000000 children=0 ended=0\n"
          "80000000 jprof-brief root=1 pid=3 ppid=1 before=1000100 cpu=3000000 "
          "children=0 ended=0\n"
          "81000000 jprof-brief root=1 pid=3 ppid=1 before=1000100 cpu=4000000 "
          "children=0 ended=0\n"
          "82000000 jprof-brief root=1 pid=3 ppid=1 before=1000100 cpu=5000000 "
          "children=0 ended=0\n"
          "90000000 jprof-brief root=1 pid=4 ppid=1 before=1000000 cpu=2000000 "
          "children=0 ended=1\n"
          "91000000 jprof-brief root=1 pid=4 ppid=1 before=1000000 cpu=3000000 "
          "children=0 ended=1\n"
          "92000000 jprof-brief root=1 pid=5 ppid=1 before=9000000 cpu=2000000 "
          "children=0 ended=1\n",
          &tree, 0);
    add(&cover, &tree, image);
    image.begin_ns = image.read_ns = 140 * MS;
    image.before_ns = 16 * MS;
    image.cpu_ns = 26 * MS;
    add(&cover, &tree, image);
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 3,
                                .start_ticks = 7,
                                .begin_ns = 100 * MS,
                                .read_ns = 150 * MS,
                                .unlogged_ns = 30 * MS,
                                .before_ns = MS,
                                .cpu_ns = 11 * MS,
                                .sampled_ns = 10 * MS,
                                .on_ns = 10 * MS});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.nprocesses, 4);
    assert_int_equal(cover.cpu_ns, (26 + 11 + 3 + 2) * MS);
    /* 0 to 1, 11 to 12, 15 to 16; up to 1; up to 1; all of what cannot be. */
    assert_int_equal(cover.before_ns, (3 + 1 + 1 + 2) * MS);
    assert_int_equal(cover.brief_ns, 2 * MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

#define MANY 40000U

/* Children of a program that is not profiled, in what the first process waited
 * for: each is looked for there once, and not all again for each of them. */
static void many_orphans(void **state)
{
    const size_t size = MANY * 100;
    char *text = malloc(size);
    struct jr_cover cover = {0};
    struct jr_tree tree;
    size_t length = 0;

    (void)state;
    assert_non_null(text);
    for (unsigned i = 0; i < MANY; i++)
        length += (size_t)snprintf(
            text + length, size - length,
            "%u jprof-brief root=1 pid=%u ppid=%u before=900000 cpu=1000000 "
            "children=0 ended=1\n",
            i + 10, i + 10, i + 1000000);
    snprintf(text + length, size - length,
             "900000 jprof-run root=1 pid=1 cpu=40010000000 wall=9\n");
    parse(text, &tree, 0);
    free(text);
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 1,
                                .begin_ns = 5,
                                .cpu_ns = 10 * MS,
                                .sampled_ns = 10 * MS,
                                .on_ns = 10 * MS,
                                .children_ns = MANY * MS});
    const clock_t begin = clock();
    jr_cover_finish(&cover, 1);
    assert_true(clock() - begin < 4 * CLOCKS_PER_SEC);
    assert_int_equal(cover.nprocesses, MANY + 1);
    /* The launcher's word is in clock ticks, two of them. */
    assert_in_range(cover.rest_ns, 0, 20 * MS);
    assert_int_equal(cover.cpu_ns, (MANY + 10) * MS + cover.rest_ns);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_up_programs),
        cmocka_unit_test(joins_logs),
        cmocka_unit_test(counts_each_program_once),
        cmocka_unit_test(many_orphans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
