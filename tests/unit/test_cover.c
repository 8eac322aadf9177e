/* SPDX-License-Identifier: MIT
 *
 * Coverage: CPU times of processes, with logs and without, summed up; the
 * reader of the tree's file.
 * Runs in: tests. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "covered.h"

static void reads_lines(void **state)
{
    struct jr_tree tree;

    (void)state;
    parse("5 jprof-child root=1 pid=7 ppid=1 cpu=60000000\n"
          "6 jprof-exec root=1 pid=8 why=static path=/a%20b args=x%00y%00\n"
          "7 jprof-later root=1 pid=8\n"
          "8 jprof-run root=1 pid=1 cpu=9 wall=8 status=0 path=/p args=p%00 "
          "jit=none\n",
          &tree, 0);
    assert_int_equal(tree.nlines, 3);
    assert_int_equal(tree.lines[0].cpu_ns, 60000000);
    assert_int_equal(tree.lines[0].ppid, 1);
    assert_string_equal(tree.lines[0].why, "");
    assert_string_equal(tree.lines[1].path, "/a b");
    assert_string_equal(tree.lines[1].args, "x y");
    assert_string_equal(tree.lines[2].text, "none");
    assert_int_equal(tree.lines[2].wall_ns, 8);
    jr_tree_file_free(&tree);
}

static void passes_damage(void **state)
{
    struct jr_tree tree;

    (void)state;
    parse("nonsense\n5 jprof-child root=1 pid=x cpu=1\n"
          "5 jprof-child root=1 pid=4294967296\n"
          "6 jprof-child root=1 pid=7 cpu=1\n7 jprof-chi",
          &tree, 4);
    assert_int_equal(tree.nlines, 1);
    jr_tree_file_free(&tree);
    parse("", &tree, 0);
    jr_tree_file_free(&tree);
}

static void sums_up(void **state)
{
    struct jr_cover cover = {0};

    (void)state;
    add(&cover, NULL,
        (struct jr_cover_image){.pid = 1,
                                .cpu_ns = 1000 * MS,
                                .sampled_ns = 990 * MS,
                                .edges_ns = 7 * MS,
                                .children_ns = 530 * MS});
    add(&cover, NULL,
        (struct jr_cover_image){.pid = 2,
                                .ppid = 1,
                                .cpu_ns = 500 * MS,
                                .sampled_ns = 480 * MS,
                                .edges_ns = 2 * MS});
    jr_cover_finish(&cover, 1);
    assert_true(cover.known);
    assert_false(cover.whole);
    assert_int_equal(cover.edges_ns, 9 * MS);
    /* 30 ms of children that left nothing. */
    assert_int_equal(cover.rest_ns, 30 * MS);
    assert_int_equal(cover.cpu_ns, 1530 * MS);
    assert_int_equal(cover.sampled_ns, 1470 * MS);
    assert_int_equal(cover.ngaps, 0);
    jr_cover_free(&cover);
}

static void takes_the_launcher_s_word(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("9 jprof-run root=1 pid=1 cpu=3000000000 wall=1 args=a%00\n", &tree,
          0);
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 1,
                                .cpu_ns = 1000 * MS,
                                .sampled_ns = 1000 * MS,
                                .children_ns = 1990 * MS});
    jr_cover_finish(&cover, 1);
    assert_true(cover.whole);
    assert_string_equal(cover.command, "a");
    /* The launcher's clock goes in steps: 10 ms more are none of its own. */
    assert_int_equal(cover.processes[0].own_ns, 1000 * MS);
    assert_int_equal(cover.rest_ns, 2000 * MS);
    assert_int_equal(cover.cpu_ns, 3000 * MS);
    assert_int_equal(cover.ngaps, 1);
    assert_int_equal(cover.gaps[0].cpu_ns, 1990 * MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

static void names_what_has_no_log(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("10 jprof-exec root=1 pid=5 why=static path=/bb args=bb%00-x%00\n"
          "20 jprof-child root=1 pid=5 ppid=1 cpu=700000000\n"
          "21 jprof-exec root=1 pid=6 why=static path=/bb args=bb%00-y%00\n"
          "30 jprof-child root=1 pid=6 ppid=1 cpu=100000000\n"
          "31 jprof-child root=1 pid=7 ppid=1 cpu=90000000\n"
          "32 jprof-nolog root=1 pid=8 why=log text=no%20room\n"
          "33 jprof-child root=1 pid=8 ppid=1 cpu=80000000\n"
          "34 jprof-child root=2 pid=9 ppid=1 cpu=80000000\n",
          &tree, 0);
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 1,
                                .cpu_ns = 1000 * MS,
                                .sampled_ns = 1000 * MS,
                                .children_ns = 970 * MS,
                                .command = "make all"});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.cpu_ns, 1970 * MS);
    assert_int_equal(cover.rest_ns, 0);
    assert_int_equal(cover.ngaps, 3);
    assert_string_equal(cover.gaps[0].command, "bb -x");
    assert_int_equal(cover.gaps[0].count, 2);
    assert_int_equal(cover.gaps[0].cpu_ns, 800 * MS);
    assert_non_null(strstr(cover.gaps[0].why, "statically"));
    assert_string_equal(cover.gaps[1].command, "make all");
    assert_int_equal(cover.gaps[1].parent, 1);
    assert_int_equal(cover.gaps[1].pid, 7);
    assert_non_null(strstr(cover.gaps[2].why, "no room"));
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* Process 1 of a namespace is the 5 that was waited for outside; a sample of
 * what it was before it was another program knows who forked it. */
static void knows_one_forked_into_a_namespace(void **state)
{
    for (uint32_t ppid = 0; ppid <= 8; ppid += 4) {
        struct jr_cover cover = {0};
        struct jr_tree tree;

        (void)state;
        parse("20 jprof-child root=9 pid=5 ppid=4 cpu=401000000\n", &tree, 0);
        add_below(&cover, &tree, 9,
                  (struct jr_cover_image){.pid = 4,
                                          .ppid = 9,
                                          .cpu_ns = 10 * MS,
                                          .sampled_ns = 10 * MS,
                                          .children_ns = 401 * MS});
        add_below(&cover, &tree, 9,
                  (struct jr_cover_image){.pid = 1,
                                          .ppid = ppid,
                                          .begin_ns = 2,
                                          .cpu_ns = 1 * MS,
                                          .sampled_ns = 0});
        add_below(&cover, &tree, 9,
                  (struct jr_cover_image){.pid = 1,
                                          .begin_ns = 3,
                                          .before_ns = 1 * MS,
                                          .cpu_ns = 400 * MS,
                                          .sampled_ns = 399 * MS});
        jr_cover_finish(&cover, 1);
        /* 8 forked another one. */
        assert_int_equal(cover.ngaps, ppid == 8);
        jr_cover_free(&cover);
        jr_tree_file_free(&tree);
    }
}

/* What a waiter was told is the child's with its own children's. */
static void takes_children_off(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("20 jprof-child root=1 pid=5 ppid=1 cpu=1000000000\n"
          "21 jprof-child root=1 pid=6 ppid=1 cpu=900000000\n",
          &tree, 0);
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 1,
                                .cpu_ns = 100 * MS,
                                .sampled_ns = 100 * MS,
                                .begin_ns = 1});
    /* 5 has no log, but its child has; 6 was killed long after its last look
     * at the clock. */
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 15,
                                .ppid = 5,
                                .begin_ns = 2,
                                .cpu_ns = 400 * MS,
                                .sampled_ns = 400 * MS});
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 6,
                                .ppid = 1,
                                .begin_ns = 2,
                                .cpu_ns = 300 * MS,
                                .children_ns = 100 * MS,
                                .sampled_ns = 300 * MS});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.ngaps, 3);
    assert_int_equal(cover.gaps[0].pid, 5);
    assert_int_equal(cover.gaps[0].cpu_ns, 600 * MS);
    assert_int_equal(cover.gaps[1].pid, 6);
    assert_int_equal(cover.gaps[2].parent, 6);
    assert_int_equal(cover.gaps[1].cpu_ns, 800 * MS);
    assert_int_equal(cover.gaps[1].has_log, 1);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* A shell without a log, a compiler's driver that used too little to leave one,
 * and the compiler itself, whose parent is known to nobody.  The launcher reads
 * times in ticks, so the last 20 ms say nothing. */
static void takes_orphans_off_the_first(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("5 jprof-child root=9 pid=12 ppid=9 cpu=500000000\n"
          "8 jprof-run root=9 pid=9 cpu=700000000 wall=8 status=0 path=/sh "
          "args=sh%00\n",
          &tree, 0);
    add_below(
        &cover, &tree, 9,
        (struct jr_cover_image){
            .pid = 12, .ppid = 9, .cpu_ns = 500 * MS, .sampled_ns = 500 * MS});
    add_below(
        &cover, &tree, 9,
        (struct jr_cover_image){
            .pid = 14, .ppid = 13, .cpu_ns = 180 * MS, .sampled_ns = 180 * MS});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.cpu_ns, 680 * MS);
    assert_int_equal(cover.ngaps, 0);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

static void joins_programs_of_a_process(void **state)
{
    struct jr_cover cover = {0};

    (void)state;
    add(&cover, NULL,
        (struct jr_cover_image){.pid = 1,
                                .before_ns = 205 * MS,
                                .cpu_ns = 900 * MS,
                                .sampled_ns = 690 * MS,
                                .command = "second",
                                .begin_ns = 9});
    add(&cover, NULL,
        (struct jr_cover_image){.pid = 1,
                                .cpu_ns = 200 * MS,
                                .sampled_ns = 200 * MS,
                                .command = "first",
                                .begin_ns = 1});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.nprocesses, 1);
    assert_int_equal(cover.cpu_ns, 900 * MS);
    assert_int_equal(cover.sampled_ns, 890 * MS);
    assert_int_equal(cover.before_ns, 5 * MS);
    assert_string_equal(cover.processes[0].last.command, "second");
    jr_cover_free(&cover);
}

static void leaves_out_what_was_not_to_be_covered(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("9 jprof-child root=1 pid=2 ppid=1 cpu=1000000000\n", &tree, 0);
    /* 300 ms profiled, paused, and paused to the end, which came later. */
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 2,
                                .cpu_ns = 800 * MS,
                                .on_ns = 300 * MS,
                                .paused = 1,
                                .sampled_ns = 300 * MS});
    add(&cover, &tree,
        (struct jr_cover_image){
            .pid = 3, .cpu_ns = 400 * MS, .sampled_ns = 10 * MS, .cut = 1});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.ngaps, 0);
    assert_int_equal(cover.cpu_ns, 300 * MS);
    assert_int_equal(cover.sampled_ns, 300 * MS);
    assert_int_equal(cover.paused_ns, 700 * MS);
    assert_int_equal(cover.cut_ns, 400 * MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* Who waited for the first process of a pid namespace has another number for
 * it than it has itself. */
static void knows_namespaces_first_ones(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;
    uint32_t number;

    (void)state;
    parse("50 jprof-child root=9 pid=70 ppid=9 cpu=400000000\n"
          "60 jprof-child root=9 pid=71 ppid=9 cpu=900000000\n"
          "70 jprof-child root=9 pid=72 ppid=9 cpu=300000000\n",
          &tree, 0);
    number = jr_cover_tree(&cover, &tree, &(struct jr_tree_root){9, 0, 0}, 0);
    jr_cover_add(&cover, &(struct jr_cover_image){.tree = number,
                                                  .pid = 9,
                                                  .cpu_ns = 100 * MS,
                                                  .sampled_ns = 100 * MS,
                                                  .on_ns = 100 * MS,
                                                  .children_ns = 1600 * MS,
                                                  .period_ns = 4 * MS});
    jr_cover_add(&cover, &(struct jr_cover_image){.tree = number,
                                                  .pid = 1,
                                                  .start_ticks = 1,
                                                  .cpu_ns = 895 * MS,
                                                  .sampled_ns = 890 * MS,
                                                  .on_ns = 895 * MS,
                                                  .period_ns = 4 * MS});
    jr_cover_add(&cover, &(struct jr_cover_image){.tree = number,
                                                  .pid = 1,
                                                  .start_ticks = 2,
                                                  .cpu_ns = 398 * MS,
                                                  .sampled_ns = 390 * MS,
                                                  .on_ns = 398 * MS,
                                                  .period_ns = 4 * MS});
    /* One that began when the third was waited for is another one. */
    jr_cover_add(&cover, &(struct jr_cover_image){.tree = number,
                                                  .pid = 1,
                                                  .start_ticks = 3,
                                                  .begin_ns = 80,
                                                  .cpu_ns = 40 * MS,
                                                  .sampled_ns = 40 * MS,
                                                  .on_ns = 40 * MS,
                                                  .period_ns = 4 * MS});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.cpu_ns, (100 + 400 + 900 + 300 + 40) * MS);
    assert_int_equal(cover.sampled_ns, (100 + 890 + 390 + 40) * MS);
    assert_int_equal(cover.ngaps, 1);
    assert_int_equal(cover.gaps[0].pid, 72);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* Chromium's zygote is process 1 of a namespace, and so is each renderer that
 * its child makes: that child is the zygote's, whoever else is called 1. */
static void knows_parents_in_namespaces(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;
    uint32_t number;

    (void)state;
    parse("90 jprof-run root=9 pid=9 cpu=100000000 wall=2000000000 status=0\n",
          &tree, 0);
    number = jr_cover_tree(&cover, &tree, &(struct jr_tree_root){9, 0, 0}, 0);
    jr_cover_add(&cover, &(struct jr_cover_image){.tree = number,
                                                  .pid = 9,
                                                  .cpu_ns = 100 * MS,
                                                  .sampled_ns = 100 * MS,
                                                  .on_ns = 100 * MS,
                                                  .period_ns = 4 * MS});
    jr_cover_add(&cover, &(struct jr_cover_image){.tree = number,
                                                  .pid = 1,
                                                  .start_ticks = 1,
                                                  .begin_ns = 10,
                                                  .cpu_ns = 50 * MS,
                                                  .children_ns = 960 * MS,
                                                  .sampled_ns = 50 * MS,
                                                  .on_ns = 50 * MS,
                                                  .period_ns = 4 * MS});
    jr_cover_add(&cover, &(struct jr_cover_image){.tree = number,
                                                  .pid = 3,
                                                  .ppid = 1,
                                                  .start_ticks = 2,
                                                  .begin_ns = 30,
                                                  .cpu_ns = 50 * MS,
                                                  .children_ns = 905 * MS,
                                                  .sampled_ns = 50 * MS,
                                                  .on_ns = 50 * MS,
                                                  .period_ns = 4 * MS});
    jr_cover_add(&cover, &(struct jr_cover_image){.tree = number,
                                                  .pid = 1,
                                                  .ppid = 3,
                                                  .start_ticks = 3,
                                                  .begin_ns = 20,
                                                  .cpu_ns = 900 * MS,
                                                  .sampled_ns = 900 * MS,
                                                  .on_ns = 900 * MS,
                                                  .period_ns = 4 * MS});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.sampled_ns, 1100 * MS);
    assert_int_equal(cover.cpu_ns - cover.rest_ns, 1100 * MS);
    assert_true(cover.rest_ns <= 10 * MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

static void says_what_is_elsewhere(void **state)
{
    struct jr_cover cover = {0};

    (void)state;
    add(&cover, NULL,
        (struct jr_cover_image){.pid = 1,
                                .cpu_ns = 100 * MS,
                                .sampled_ns = 100 * MS,
                                .children_ns = 900 * MS});
    jr_cover_finish(&cover, 0);
    assert_int_equal(cover.cpu_ns, 100 * MS);
    assert_int_equal(cover.children_ns, 900 * MS);
    jr_cover_free(&cover);
}

/* The CPU time between starts and stops, as a map has them. */
static void follows_a_profile_s_course(void **state)
{
    struct jr_section sections[] = {{10, 100 * MS}, {30, 300 * MS}};
    struct jr_section pauses[] = {{20, 150 * MS}};
    struct jr_map map = {
        .sections = sections, .nsections = 2, .pauses = pauses, .npauses = 1};
    struct jr_run run = {.cpu_ns = 16 * MS, .late_ns = 9 * MS};
    struct jr_cover_image image;

    (void)state;
    run.header.cpu_before_ns = 99 * MS;
    run.header.cpu_ns = 400 * MS;
    run.header.cpu_read_ns = 50;
    jr_cover_image(&run, &map, &image);
    assert_int_equal(image.sampled_ns, 16 * MS);
    assert_int_equal(image.cpu_ns, 409 * MS);
    assert_int_equal(image.on_ns, (51 + 109) * MS);
    assert_false(image.paused);
    /* Deferred: what was used before the first start was not to be covered. */
    run.header.cpu_before_ns = 10 * MS;
    jr_cover_image(&run, &map, &image);
    assert_int_equal(image.on_ns, (50 + 109) * MS);
    /* Cleared: nor what came before that. */
    map.clear = (struct jr_section){40, 310 * MS};
    jr_cover_image(&run, &map, &image);
    assert_int_equal(image.on_ns, 99 * MS);
    map.clear.time_ns = 0;
    map.nsections = 1;
    jr_cover_image(&run, &map, &image);
    assert_int_equal(image.on_ns, 50 * MS);
    assert_true(image.paused);
}

/* What jprof took to make the log is told apart, and is not to be covered. */
static void leaves_out_making(void **state)
{
    struct jr_map map = {0};
    struct jr_run run = {.cpu_ns = 16 * MS};
    struct jr_cover cover = {0};
    struct jr_cover_image image;

    (void)state;
    run.header.cpu_ns = 20 * MS;
    run.header.counters[JP_COUNT_MAKING_NS] = 3 * MS;
    jr_cover_image(&run, &map, &image);
    jr_cover_add(&cover, &image);
    jr_cover_finish(&cover, 0);
    assert_int_equal(cover.making_ns, 3 * MS);
    assert_int_equal(cover.cpu_ns, 17 * MS);
    jr_cover_free(&cover);
}

/* The process began 35 ms before its log; or when is not known. */
static void knows_when_a_process_began(void **state)
{
    struct jr_map map = {0};
    struct jr_run run = {.header.boot_ns = 1005 * MS};
    struct jr_cover_image image;

    (void)state;
    for (uint64_t ticks = 0; ticks <= 194; ticks += 97) {
        run.header.start_ticks = ticks;
        jr_cover_image(&run, &map, &image);
        assert_int_equal(image.unlogged_ns, ticks == 97 ? 35 * MS : 0);
    }
}

static void goes_by_the_lowered_rate(void **state)
{
    struct jr_map map = {0};
    struct jr_run run = {.header.period_ns = 4 * MS};
    struct jr_cover_image image;

    (void)state;
    run.header.counters[JP_COUNT_LOWERED] = 10;
    run.header.counters[JP_COUNT_LOWERED_NS] = 1000 * MS;
    jr_cover_image(&run, &map, &image);
    assert_int_equal(image.period_ns, 100 * MS);
}

/* A make without a sample, whose compiler is the child of a brief driver that
 * left nothing: the compiler's time is not once more the make's. */
static void counts_unlinked_children_once(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("8 jprof-child root=1 pid=3 ppid=1 cpu=190000000\n"
          "9 jprof-run root=1 pid=1 cpu=1275000000 wall=2000000000 status=0\n",
          &tree, 0);
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 1,
                                .cpu_ns = 1000 * MS,
                                .sampled_ns = 1000 * MS,
                                .children_ns = 265 * MS});
    add(&cover, &tree,
        (struct jr_cover_image){
            .pid = 5, .ppid = 4, .cpu_ns = 180 * MS, .sampled_ns = 180 * MS});
    /* Another such make has a log: what it waited for is in no rest. */
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 6,
                                .ppid = 1,
                                .cpu_ns = 5 * MS,
                                .sampled_ns = 5 * MS,
                                .children_ns = 70 * MS});
    add(&cover, &tree,
        (struct jr_cover_image){
            .pid = 8, .ppid = 7, .cpu_ns = 66 * MS, .sampled_ns = 66 * MS});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.cpu_ns, 1265 * MS);
    assert_int_equal(cover.rest_ns, 4 * MS);
    assert_int_equal(cover.ngaps, 0);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* A daemon, which nobody waited for, is not in the launcher's word: it is not
 * taken from a process without a log into which it does not fit. */
static void leaves_daemons_alone(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("8 jprof-child root=1 pid=3 ppid=1 cpu=190000000\n"
          "9 jprof-run root=1 pid=1 cpu=1190000000 wall=2000000000 status=0\n",
          &tree, 0);
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 1,
                                .cpu_ns = 1000 * MS,
                                .sampled_ns = 1000 * MS,
                                .children_ns = 190 * MS});
    add(&cover, &tree,
        (struct jr_cover_image){
            .pid = 5, .ppid = 4, .cpu_ns = 800 * MS, .sampled_ns = 800 * MS});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.cpu_ns, 1990 * MS);
    assert_int_equal(cover.ngaps, 1);
    assert_int_equal(cover.gaps[0].pid, 3);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_lines),
        cmocka_unit_test(passes_damage),
        cmocka_unit_test(sums_up),
        cmocka_unit_test(counts_unlinked_children_once),
        cmocka_unit_test(leaves_daemons_alone),
        cmocka_unit_test(takes_the_launcher_s_word),
        cmocka_unit_test(names_what_has_no_log),
        cmocka_unit_test(knows_one_forked_into_a_namespace),
        cmocka_unit_test(takes_children_off),
        cmocka_unit_test(takes_orphans_off_the_first),
        cmocka_unit_test(joins_programs_of_a_process),
        cmocka_unit_test(leaves_out_what_was_not_to_be_covered),
        cmocka_unit_test(knows_namespaces_first_ones),
        cmocka_unit_test(knows_parents_in_namespaces),
        cmocka_unit_test(says_what_is_elsewhere),
        cmocka_unit_test(follows_a_profile_s_course),
        cmocka_unit_test(leaves_out_making),
        cmocka_unit_test(knows_when_a_process_began),
        cmocka_unit_test(goes_by_the_lowered_rate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
