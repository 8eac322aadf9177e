/* SPDX-License-Identifier: MIT
 *
 * Runs in one folder share a tree's file: which of its lines are a log's, where
 * the first processes of two runs had one pid.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "covered.h"
#include "jp_log.h"
#include "model/cover/cover_sum.h"

#define SPACE 4026531836U

static int is_same(struct jr_tree_root one, struct jr_tree_root other)
{
    const int same = jr_tree_root_same(&one, &other);

    assert_int_equal(jr_tree_root_same(&other, &one), same);
    return same;
}

static void knows_a_first_process(void **state)
{
    const struct jr_tree_root root = {9, SPACE, 700};

    (void)state;
    assert_true(is_same(root, root));
    assert_false(is_same(root, (struct jr_tree_root){8, SPACE, 700}));
    assert_false(is_same(root, (struct jr_tree_root){9, SPACE + 1, 700}));
    assert_false(is_same(root, (struct jr_tree_root){9, SPACE, 701}));
    /* What is not known is no difference. */
    assert_true(is_same(root, (struct jr_tree_root){9, 0, 0}));
    assert_true(is_same(root, (struct jr_tree_root){9, 0, 700}));
    assert_true(is_same(root, (struct jr_tree_root){9, SPACE, 0}));
    assert_false(is_same(root, (struct jr_tree_root){9, 0, 701}));
    assert_false(is_same(root, (struct jr_tree_root){9, SPACE + 1, 0}));
    assert_false(is_same(root, (struct jr_tree_root){8, 0, 0}));
}

static void takes_it_from_lines_and_headers(void **state)
{
    static const struct jp_log_header header = {
        .root_pid = 9, .root_space = SPACE, .root_ticks = 1ULL << 40};
    struct jr_tree_root root = jr_tree_root_of(&header);
    struct jr_tree tree;

    (void)state;
    parse("50 jprof-child root=9 space=4026531836 since=1099511627776 pid=70 "
          "ppid=9 cpu=400000000\n"
          "51 jprof-child root=9 space=4026531836 pid=70 ppid=9 cpu=400000000\n"
          "52 jprof-child root=9 pid=70 ppid=9 cpu=400000000\n"
          "53 jprof-child root=9 space=x since=x pid=70 ppid=9 cpu=40\n",
          &tree, 0);
    assert_int_equal(tree.nlines, 4);
    assert_int_equal(root.pid, 9);
    assert_int_equal(root.space, SPACE);
    assert_int_equal(root.ticks, 1ULL << 40);
    assert_int_equal(tree.lines[0].root.space, SPACE);
    assert_int_equal(tree.lines[0].root.ticks, 1ULL << 40);
    assert_int_equal(tree.lines[1].root.space, SPACE);
    assert_int_equal(tree.lines[1].root.ticks, 0);
    for (size_t i = 2; i < 4; i++) {
        assert_int_equal(tree.lines[i].root.pid, 9);
        assert_int_equal(tree.lines[i].root.space, 0);
        assert_int_equal(tree.lines[i].root.ticks, 0);
    }
    jr_tree_file_free(&tree);
}

/* Adds the first process, of pid 9, of one of the runs. */
static void add_first(struct jr_cover *cover, struct jr_tree *tree,
                      uint64_t ticks, uint64_t children_ns)
{
    const struct jr_tree_root root = {9, SPACE, ticks};

    jr_cover_add(cover, &(struct jr_cover_image){
                            .tree = jr_cover_tree(cover, tree, &root, 0),
                            .pid = 9,
                            .start_ticks = ticks,
                            .cpu_ns = 100 * MS,
                            .sampled_ns = 100 * MS,
                            .on_ns = 100 * MS,
                            .children_ns = children_ns,
                            .period_ns = 4 * MS});
}

static void tells_two_of_one_pid(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("50 jprof-child root=9 space=4026531836 since=700 pid=70 ppid=9 "
          "cpu=400000000\n"
          "60 jprof-child root=9 space=4026531836 since=800 pid=71 ppid=9 "
          "cpu=900000000\n"
          "70 jprof-child root=9 space=4026531836 since=900 pid=72 ppid=9 "
          "cpu=50000000\n",
          &tree, 0);
    add_first(&cover, &tree, 700, 400 * MS);
    add_first(&cover, &tree, 800, 900 * MS);
    assert_int_equal(cover.ntrees, 2);
    jr_cover_finish(&cover, 1);
    /* Each line is of one of them; the third run's is of none. */
    assert_int_equal(cover.nprocesses, 4);
    assert_int_equal(cover.cpu_ns, 1500 * MS);
    assert_int_equal(cover.sampled_ns, 200 * MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

/* Lines and logs of before there were such keys go by the pid. */
static void goes_by_the_pid_alone(void **state)
{
    struct jr_cover cover = {0};
    struct jr_tree tree;

    (void)state;
    parse("50 jprof-child root=9 pid=70 ppid=9 cpu=400000000\n"
          "60 jprof-child root=8 pid=71 ppid=9 cpu=900000000\n",
          &tree, 0);
    add_first(&cover, &tree, 700, 400 * MS);
    jr_cover_finish(&cover, 1);
    assert_int_equal(cover.nprocesses, 2);
    assert_int_equal(cover.cpu_ns, 500 * MS);
    jr_cover_free(&cover);
    jr_tree_file_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_a_first_process),
        cmocka_unit_test(takes_it_from_lines_and_headers),
        cmocka_unit_test(tells_two_of_one_pid),
        cmocka_unit_test(goes_by_the_pid_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
