/* SPDX-License-Identifier: MIT
 *
 * Coverage: which processes are said to be missing, and why.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "covered.h"
#include "model/cover/cover_sum.h"

/* What a process used after its profile's end is told by whoever waited. */
static void tells_of_ends(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("9 jprof-child root=1 pid=2 ppid=1 cpu=100000000\n"
          "9 jprof-child root=1 pid=3 ppid=1 cpu=100000000\n"
          "9 jprof-child root=1 pid=4 ppid=1 cpu=100000000\n",
          &tree, 0);
    add(&cover, &tree,
        (struct jr_cover_image){
            .pid = 2, .cpu_ns = 70 * MS, .sampled_ns = 68 * MS, .ended = 1});
    /* Killed: its clock was read before. */
    add(&cover, &tree,
        (struct jr_cover_image){
            .pid = 3, .cpu_ns = 70 * MS, .sampled_ns = 68 * MS});
    add(&cover, &tree,
        (struct jr_cover_image){.pid = 4,
                                .cpu_ns = 88 * MS,
                                .before_ns = 12 * MS,
                                .sampled_ns = 68 * MS,
                                .ended = 1});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.cpu_ns, 300 * MS);
    assert_int_equal(cover.after_ns, (30 + 12) * MS);
    assert_int_equal(cover.ngaps, 3);
    for (size_t i = 0; i < cover.ngaps; i++) {
        const struct jr_gap *gap = &cover.gaps[i];

        assert_non_null(strstr(gap->why, gap->pid == 2   ? "profile ended:"
                                         : gap->pid == 3 ? "killed"
                                                         : "started and"));
    }
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

static void does_not_take_chance_for_a_gap(void **state)
{
    struct jr_cover cover = {0};

    (void)state;
    add(&cover, NULL,
        (struct jr_cover_image){
            .pid = 1, .cpu_ns = 60 * MS, .sampled_ns = 52 * MS});
    add(&cover, NULL,
        (struct jr_cover_image){.pid = 2,
                                .cpu_ns = 120 * MS,
                                .sampled_ns = 50 * MS,
                                .period_ns = 50 * MS});
    add(&cover, NULL,
        (struct jr_cover_image){.pid = 3, .cpu_ns = 50 * MS, .sampled_ns = 0});
    add(&cover, NULL,
        (struct jr_cover_image){
            .pid = 4, .cpu_ns = 100 * MS, .sampled_ns = 76 * MS});
    add(&cover, NULL,
        (struct jr_cover_image){
            .pid = 6, .cpu_ns = 100 * MS, .sampled_ns = 84 * MS});
    /* 12 ms of each of four threads, and more of each. */
    add(&cover, NULL,
        (struct jr_cover_image){.pid = 8,
                                .cpu_ns = 200 * MS,
                                .sampled_ns = 152 * MS,
                                .period_ns = 4 * MS,
                                .threads = 4});
    add(&cover, NULL,
        (struct jr_cover_image){.pid = 9,
                                .cpu_ns = 200 * MS,
                                .sampled_ns = 151 * MS,
                                .period_ns = 4 * MS,
                                .threads = 4});
    /* An older library's log says nothing of its process's time. */
    add(&cover, NULL, (struct jr_cover_image){.pid = 5, .sampled_ns = 1});
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.ngaps, 3); /* 4 and 9 are one */
    for (size_t i = 0; i < cover.ngaps; i++) {
        const uint32_t pid = cover.gaps[i].pid;

        assert_non_null(strstr(cover.gaps[i].why, pid == 6   ? "by chance"
                                                  : pid == 8 ? "were brief"
                                                             : "not known"));
        assert_true(pid == 4 || pid == 6 || pid == 8 || pid == 9);
    }
    jr_cover_free(&cover);
}

/* A process that executed a program where the profile's folder is not. */
static struct jr_cover_image gone(uint32_t pid, uint32_t ppid)
{
    return (struct jr_cover_image){.pid = pid,
                                   .ppid = ppid,
                                   .begin_ns = 5,
                                   .cpu_ns = 2 * MS,
                                   .sampled_ns = 2 * MS,
                                   .off = JP_OFF_OUT_OF_SIGHT};
}

/* Nobody tells of the time of a process that is out of reach: it is what its
 * parent waited for and nothing else accounts for, and the reason says that.
 * Where the kernel's word is known it is no supposition; of two such children
 * neither gets the time, which is their parent's children's. */
static void supposes_what_is_out_of_reach(void **state)
{
    static const char word[] = "9 jprof-child root=1 pid=2 ppid=1 "
                               "cpu=400000000\n";

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct jr_cover cover = {0};
        struct jr_tree tree;

        parse(i == 1 ? word : "", &tree, 0);
        add(&cover, &tree,
            (struct jr_cover_image){.pid = 1,
                                    .cpu_ns = 100 * MS,
                                    .sampled_ns = 100 * MS,
                                    .children_ns = 400 * MS});
        add(&cover, &tree, gone(2, 1));
        if (i == 2)
            add(&cover, &tree, gone(3, 1));
        jr_cover_finish(&cover, 1);
        assert_int_equal(cover.cpu_ns, 500 * MS);
        assert_int_equal(cover.ngaps, 1);
        assert_int_equal(cover.gaps[0].unseen, i == 2);
        assert_int_equal(cover.gaps[0].parent, i == 2);
        assert_int_equal(cover.rest_ns, i == 2 ? 396 * MS : 0);
        if (i < 2) {
            assert_int_equal(cover.gaps[0].cpu_ns, 400 * MS);
            assert_non_null(strstr(cover.gaps[0].why, "was not there"));
            assert_int_equal(strstr(cover.gaps[0].why, "at most") != NULL,
                             i == 0);
        }
        jr_cover_free(&cover);
        jr_tree_file_free(&tree);
    }
}

/* Brief processes that end their profiles by a filter, as a server's do in a
 * sandbox of their own for each client, are said to be missing together; not
 * where they lack what chance may take, nor where nobody says why. */
static void names_brief_ones_together(void **state)
{
    static const struct {
        uint64_t sampled;
        size_t count;
        uint8_t off;
        uint64_t missing;
    } cases[] = {{8 * MS, 12, JP_OFF_FILTER, 144 * MS},
                 {8 * MS, 2, JP_OFF_FILTER, 0},
                 {8 * MS, 12, JP_OFF_NONE, 0},
                 {20 * MS, 12, JP_OFF_FILTER, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct jr_cover cover = {0};

        for (uint32_t pid = 2; pid < 2 + cases[i].count; pid++)
            add(&cover, NULL,
                (struct jr_cover_image){.pid = pid,
                                        .cpu_ns = 20 * MS,
                                        .sampled_ns = cases[i].sampled,
                                        .period_ns = 4 * MS,
                                        .off = cases[i].off,
                                        .ended = 1,
                                        .command = "sshd: [accepted]"});
        /* One that is missing alone stands alone. */
        add(&cover, NULL,
            (struct jr_cover_image){.pid = 99,
                                    .cpu_ns = 60 * MS,
                                    .sampled_ns = 20 * MS,
                                    .period_ns = 4 * MS,
                                    .off = JP_OFF_FILTER,
                                    .ended = 1,
                                    .command = "sshd: [accepted]"});
        jr_cover_finish(&cover, 1);
        assert_int_equal(cover.ngaps, cases[i].missing ? 2 : 1);
        for (size_t j = 0; j < cover.ngaps; j++) {
            const struct jr_gap *gap = &cover.gaps[j];

            assert_non_null(strstr(gap->why, "gave up system calls"));
            assert_int_equal(gap->cpu_ns - gap->sampled_ns,
                             gap->count > 1 ? cases[i].missing : 40 * MS);
        }
        jr_cover_free(&cover);
    }
}

/* Why a program will not be profiled is told before it is executed. The log of
 * the process may begin after that, by a sample of another thread, but not the
 * process itself: that was another one with its pid. */
static void reasons_are_older_than_logs(void **state)
{
    (void)state;
    for (uint64_t there = 0; there <= 20; there += 10) {
        struct jr_cover cover = {0};
        struct jr_tree tree;

        parse("10 jprof-exec root=1 pid=5 why=flags path=/x args=x%00\n", &tree,
              0);
        add(&cover, &tree,
            (struct jr_cover_image){.pid = 5,
                                    .ppid = 1,
                                    .begin_ns = 25,
                                    .unlogged_ns = there,
                                    .cpu_ns = 400 * MS});
        jr_cover_finish(&cover, 1);
        assert_int_equal(cover.ngaps, 1);
        assert_int_equal(strstr(cover.gaps[0].why, "JPROF_FLAGS") != NULL,
                         there == 20);
        jr_cover_free(&cover);
        jr_tree_file_free(&tree);
    }
}

/* Two sandboxes, in which the program is process 2: a line tells of the one
 * that had not used more by then, not of the one that began last. */
static void tells_apart_processes_of_one_number(void **state)
{
    static const struct jr_cover_image images[] = {
        {.pid = 9, .cpu_ns = 100 * MS},
        {.pid = 1, .start_ticks = 1, .cpu_ns = 30 * MS, .children_ns = 83 * MS},
        {.pid = 1,
         .start_ticks = 2,
         .begin_ns = 10,
         .cpu_ns = 30 * MS,
         .children_ns = 5886 * MS},
        {.pid = 2,
         .ppid = 1,
         .start_ticks = 3,
         .begin_ns = 5,
         .cpu_ns = 82 * MS},
        {.pid = 2,
         .ppid = 1,
         .start_ticks = 4,
         .begin_ns = 12,
         .cpu_ns = 5843 * MS}};
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("50 jprof-child root=9 pid=2 ppid=1 cpu=83000000\n", &tree, 0);
    for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
        struct jr_cover_image image = images[i];

        image.sampled_ns = image.cpu_ns;
        add_below(&cover, &tree, 9, image);
    }
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.cpu_ns, (100 + 30 + 30 + 83 + 5886) * MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* Shells in a sandbox waited for children that could not write a word.  What a
 * known child used is not theirs, nor what is below 50 ms or a hundredth of
 * all. */
static void names_parents_of_the_unseen(void **state)
{
    static const struct jr_cover_image images[] = {
        {.pid = 1, .cpu_ns = 5000 * MS, .children_ns = 55 * MS},
        {.pid = 2,
         .cpu_ns = 10 * MS,
         .children_ns = 400 * MS,
         .command = "sh two"},
        {.pid = 3, .ppid = 2, .cpu_ns = 100 * MS},
        {.pid = 4,
         .cpu_ns = 10 * MS,
         .children_ns = 200 * MS,
         .command = "sh four"},
        {.pid = 5, .cpu_ns = 10 * MS, .children_ns = 49 * MS},
        {.pid = 6, .cpu_ns = 10 * MS, .children_ns = 80 * MS, .command = "env"},
    };

    (void)state;
    for (int merged = 0; merged < 2; merged++) {
        struct jr_cover cover = {0};
        struct jr_tree tree;

        parse("", &tree, 0);
        for (size_t i = 0; i < sizeof images / sizeof images[0]; i++) {
            struct jr_cover_image image = images[i];

            image.sampled_ns = image.cpu_ns;
            image.ended = 1;
            add(&cover, &tree, image);
        }
        jr_cover_finish(&cover, merged);
        assert_int_equal(cover.ngaps, merged ? 2 : 0);
        if (merged) {
            assert_int_equal(cover.gaps[0].cpu_ns, (300 + 200) * MS);
            assert_int_equal(cover.gaps[0].parent, 2);
            assert_int_equal(cover.gaps[0].count, 2);
            assert_string_equal(cover.gaps[1].command, "env");
            for (size_t i = 0; i < cover.ngaps; i++) {
                assert_true(cover.gaps[i].unseen);
                assert_int_equal(cover.gaps[i].pid, 0);
                assert_non_null(strstr(cover.gaps[i].why, "a sandbox"));
            }
        }
        jr_cover_free(&cover);
        jr_tree_file_free(&tree);
    }
}

/* In a sandbox no child's line tells its time.  A make whose log began with its
 * only sample, after the compilers that its brief drivers executed, waited for
 * them; so did a process for its child's child, where the child executed a
 * program that left no word. */
static void finds_waiters_for_all(void **state)
{
    (void)state;
    for (int executed = 0; executed < 2; executed++) {
        struct jr_cover cover = {0};
        struct jr_tree tree;

        parse("99 jprof-run root=9 pid=9 cpu=640000000 wall=9 status=0 "
              "path=/sh args=sh%00\n",
              &tree, 0);
        add_below(&cover, &tree, 9,
                  (struct jr_cover_image){.pid = 9,
                                          .begin_ns = 90,
                                          .unlogged_ns = 80,
                                          .cpu_ns = 20 * MS,
                                          .sampled_ns = 20 * MS,
                                          .children_ns = 620 * MS,
                                          .ended = 1});
        if (executed)
            add_below(&cover, &tree, 9,
                      (struct jr_cover_image){.pid = 12,
                                              .ppid = 9,
                                              .begin_ns = 30,
                                              .cpu_ns = 20 * MS,
                                              .sampled_ns = 20 * MS});
        add_below(&cover, &tree, 9,
                  (struct jr_cover_image){.pid = 14,
                                          .ppid = 12,
                                          .begin_ns = 50,
                                          .cpu_ns = 600 * MS,
                                          .sampled_ns = 600 * MS,
                                          .ended = 1});
        jr_cover_finish(&cover, 1);
        assert_int_equal(cover.ngaps, 0);
        assert_int_equal(cover.cpu_ns, 640 * MS);
        jr_cover_free(&cover);
        jr_tree_file_free(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_waiters_for_all),
        cmocka_unit_test(tells_apart_processes_of_one_number),
        cmocka_unit_test(tells_of_ends),
        cmocka_unit_test(does_not_take_chance_for_a_gap),
        cmocka_unit_test(supposes_what_is_out_of_reach),
        cmocka_unit_test(names_brief_ones_together),
        cmocka_unit_test(reasons_are_older_than_logs),
        cmocka_unit_test(names_parents_of_the_unseen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
