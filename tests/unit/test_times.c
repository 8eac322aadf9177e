/* SPDX-License-Identifier: MIT
 *
 * Real time: what the last samples of threads leave open, and how
 * unsure they are; calls that blocked.
 * Runs in: tests. */
#include "profile_fixture.h"

#include "in_range.h"

#include "write/waits.h"

static void wait_at(struct profile *profile, uint64_t time, uint64_t weight,
                    uint32_t tid)
{
    profile->event = JP_EVENT_WALL_BLOCKED;
    profile_sample(profile, "ab", time, weight, tid);
}

static void run_at(struct profile *profile, uint64_t time, uint64_t weight,
                   uint32_t tid)
{
    profile->event = JP_EVENT_WALL_RUNNING;
    profile_sample(profile, "ac", time, weight, tid);
}

static void assert_open(const struct profile *profile, uint64_t ns,
                        uint64_t threads)
{
    assert_int_equal(profile->model.total.open_ns, ns);
    assert_int_equal(profile->model.total.open, threads);
}

/* Threads of each kind; the log's last sample is of the time 100000. */
static void sample_ends(struct profile *profile)
{
    profile_init(profile);
    /* Waits on: known until 80000. */
    wait_at(profile, 1000, 1000, 1);
    wait_at(profile, 80000, 79000, 1);
    /* So does this one: its last stratum ended behind its moment. */
    wait_at(profile, 1000, 1000, 2);
    wait_at(profile, 60000, 69000, 2);
    /* Ended in a long wait, the rest of which is charged. */
    wait_at(profile, 1000, 1000, 3);
    wait_at(profile, 60000, 59000, 3);
    wait_at(profile, 60000, 20000, 3);
    /* Ended: its wait was too short for a stratum like that. */
    run_at(profile, 1000, 1000, 4);
    wait_at(profile, 2000, 1000, 4);
    /* Ended: a thread that runs is looked at each period. */
    wait_at(profile, 1000, 1000, 5);
    run_at(profile, 70000, 69000, 5);
    /* Is known to the end. */
    wait_at(profile, 99000, 1000, 6);
    wait_at(profile, 100000, 1000, 6);
}

static void test_open(void **state)
{
    const struct jr_filter all = everything();
    struct profile profile;

    (void)state;
    sample_ends(&profile);
    profile_model(&profile, "", &all, NULL);
    assert_open(&profile, 20000 + 30000, 2);
    profile_free(&profile);
}

/* An end in order leaves nothing open, whatever the samples look like. */
static void test_open_in_order(void **state)
{
    const struct jr_filter all = everything();
    struct profile profile;

    (void)state;
    sample_ends(&profile);
    profile_model(&profile, "100001 exit cpu=1\n", &all, NULL);
    assert_open(&profile, 0, 0);
    profile_free(&profile);
}

/* What the filters leave out of the report is not missing in it. */
static void test_open_selected(void **state)
{
    struct jr_filter early = everything(), busy = everything(),
                     one = everything();
    struct profile profile;

    (void)state;
    early.to_ns = 90000;
    early.has_to = 1;
    busy.events = 1U << JP_EVENT_WALL_RUNNING;
    one.tid = 2;
    sample_ends(&profile);
    profile_model(&profile, "", &early, NULL);
    assert_open(&profile, 0, 0);
    profile_free(&profile);
    sample_ends(&profile);
    profile_model(&profile, "", &busy, NULL);
    assert_open(&profile, 0, 0);
    profile_free(&profile);
    sample_ends(&profile);
    profile_model(&profile, "", &one, NULL);
    assert_open(&profile, 30000, 1);
    profile_free(&profile);
}

/* A map that claims a time long after says nothing of the threads. */
static void test_open_far(void **state)
{
    const struct jr_filter all = everything();
    struct profile profile;

    (void)state;
    sample_ends(&profile);
    profile_model(&profile, "18446744073709551615 note text=x\n", &all, NULL);
    assert_open(&profile, 0, 0);
    profile_free(&profile);
}

/* The standard error of a function's time, rounded to ns. */
static uint64_t error_of(const struct profile *profile, const char *name)
{
    const struct jr_model *model = &profile->model;
    size_t count;
    struct jr_time_row *rows = jr_times_rows(model, &count);
    double error = -1;

    for (size_t i = 0; i < count; i++)
        if (strcmp(model->functions[rows[i].function].name, name) == 0)
            error = rows[i].error_ns;
    free(rows);
    assert_true(error >= 0);
    return (uint64_t)(error + 0.5);
}

/* Models what was sampled, and frees it. */
static void assert_errors(struct profile *profile, uint64_t inner,
                          uint64_t outer)
{
    const struct jr_filter all = everything();

    profile_model(profile, "", &all, NULL);
    assert_int_equal(error_of(profile, "fb"), inner);
    assert_int_equal(error_of(profile, "fa"), outer);
    profile_free(profile);
}

/* The last stratum is not lived to its end. */
static void test_error_of_last_sample(void **state)
{
    struct profile profile;

    (void)state;
    profile_init(&profile);
    wait_at(&profile, 1000, 600, 1);
    assert_errors(&profile, 245, 245); /* 600 / sqrt 6 */
    profile_init(&profile);
    for (uint32_t tid = 1; tid <= 6; tid++)
        wait_at(&profile, 1000, 600, tid);
    assert_errors(&profile, 600, 600);
}

/* A long stratum that goes on behind the moment was drawn, one that ends with
 * it is a wait that was proven. */
static void test_error_of_long_stratum(void **state)
{
    struct profile profile;

    (void)state;
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 60000, 59000, 1);
    assert_errors(&profile, 0, 0);
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 30000, 59000, 1);
    assert_errors(&profile, 24087, 24087);
}

/* What is charged unseen at a thread's end, but not at the process's. */
static void test_error_of_rest(void **state)
{
    struct profile profile;

    (void)state;
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 60000, 59000, 1);
    wait_at(&profile, 60000, 20000, 1);
    assert_errors(&profile, 0, 0);
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 60000, 59000, 1);
    wait_at(&profile, 60000, 20000, 1);
    run_at(&profile, 80000 + 250000001, 600, 2);
    assert_errors(&profile, 8165, 245);
    /* Threads end one after the other. */
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 60000, 59000, 1);
    wait_at(&profile, 60000, 20000, 1);
    run_at(&profile, 80000 + 249000000, 600, 2);
    assert_errors(&profile, 0, 245);
}

#define SECOND UINT64_C(1000000000)

/* Eight threads go from one wait to another in a long stratum, and were looked
 * at in `moments` moments. */
static void check_together(uint64_t moments, uint64_t error)
{
    const struct jr_filter all = everything();
    struct profile profile;

    profile_init(&profile);
    for (uint32_t tid = 0; tid < 8; tid++)
        wait_at(&profile, SECOND + tid * moments / 8 * SECOND / 20, SECOND,
                tid);
    profile.event = JP_EVENT_WALL_BLOCKED;
    for (uint32_t tid = 0; tid < 8; tid++)
        profile_sample(&profile, "ad",
                       2 * SECOND + tid * moments / 8 * SECOND / 20 + tid,
                       SECOND, tid);
    profile_model(&profile, "", &all, NULL);
    assert_uint_in_range(error_of(&profile, "fb"), error - SECOND / 100,
                         error + SECOND / 100);
    profile_free(&profile);
}

/* The root of two thirds of the squares of what was unsure together. */
static void test_error_together(void **state)
{
    (void)state;
    check_together(1, 6531972640);
    check_together(2, 3265986320);
    check_together(8, 2309401080);
}

/* It waited elsewhere for 3 s, was found here in a stratum of as much, and
 * lived for half of that. */
static void test_error_of_a_cut_stratum(void **state)
{
    const struct jr_filter all = everything();
    struct profile profile;

    (void)state;
    profile_init(&profile);
    wait_at(&profile, 3 * SECOND, 3 * SECOND, 1);
    profile_sample(&profile, "ad", 4 * SECOND, SECOND, 1);
    profile_sample(&profile, "ad", 4 * SECOND, SECOND / 2, 1);
    run_at(&profile, 10 * SECOND, 600, 2);
    profile_model(&profile, "", &all, NULL);
    assert_uint_in_range(error_of(&profile, "fb"), 1707000000, 1708500000);
    assert_uint_in_range(error_of(&profile, "fd"), 1719000000, 1721000000);
    profile_free(&profile);
}

/* What is not proven may be too much, at the process's end as well, but not for
 * the thread's outermost function. */
static void test_error_of_guessed_rest(void **state)
{
    struct profile profile;

    (void)state;
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 60000, 59000, 1);
    wait_at(&profile, 60000 + JP_REST_GUESSED_NS, 20000, 1);
    assert_errors(&profile, 11547, 0);
}

/* In strata weights are the time between samples, but for one of them; without
 * memory they are more or less. */
static void test_error_of_stay(void **state)
{
    struct profile profile;

    (void)state;
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 2900, 1000, 1);
    wait_at(&profile, 3100, 1000, 1);
    assert_errors(&profile, 408, 408); /* the last one's 1000 / sqrt 6 */
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 4100, 1000, 1);
    wait_at(&profile, 5000, 1000, 1);
    assert_errors(&profile, 2041, 2041); /* and 2000 */
    /* What is given for the rest of a wait is not more than what passed. */
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 3000, 2500, 1);
    wait_at(&profile, 3000, 4000, 1);
    assert_errors(&profile, 0, 0);
    /* A gap is no stratum. */
    profile_init(&profile);
    wait_at(&profile, 1000, 1000, 1);
    wait_at(&profile, 40000, 1000, 1);
    assert_errors(&profile, 408, 408);
}

/* The text of both sections; the caller frees it. */
static char *text_of(const struct profile *profile)
{
    const struct jr_report report = {.model = &profile->model};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    jr_waits_text(&report, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Threads that only wait and one that works in between, in one call. */
static void test_one_row(void **state)
{
    const struct jr_filter all = everything();
    const uint64_t second = 1000000000;
    struct profile profile;
    char *text;

    (void)state;
    profile_init(&profile);
    for (uint32_t tid = 1; tid <= 3; tid++)
        wait_at(&profile, second, 3 * second, tid);
    run_at(&profile, 2 * second, second, 3);
    profile_model(&profile, "", &all, NULL);
    text = text_of(&profile);
    assert_non_null(strstr(text, "     3.000     0.816        1  fb  "
                                 "(besides, 2 threads always idle there: "
                                 "6.000 s)\n\n"));
    assert_null(strstr(text, "(threads always"));
    free(text);
    profile_free(&profile);
}

/* The calls that blocked, of stacks that were there for 2 s each, and a thread
 * that computes besides; the caller frees them. */
static char *calls_of(const char *const *stacks, size_t count)
{
    const struct jr_filter all = everything();
    struct profile profile;
    char *text;

    profile_init(&profile);
    for (size_t i = 0; i < count; i++) {
        profile.event = JP_EVENT_WALL_BLOCKED;
        profile_sample(&profile, stacks[i], (2 * i + 2) * SECOND, 2 * SECOND,
                       1);
    }
    run_at(&profile, 100 * SECOND, SECOND, 1);
    profile_model(&profile, "", &all, NULL);
    text = text_of(&profile);
    profile_free(&profile);
    return text;
}

/* A function that waits for several others by one call is told apart by these,
 * two levels up; one that waits in several ways is not. */
static void test_wrapper(void **state)
{
    static const char *const apart[] = {"abe", "ace"};
    static const char *const deep[] = {"abde", "acde", "afe"};
    static const char *const one[] = {"abe", "abe"};
    static const char *const ways[] = {"abe", "abf", "acbe"};
    char *text = calls_of(apart, 2);

    (void)state;
    assert_non_null(strstr(text, "  fb: fe\n"));
    assert_non_null(strstr(text, "  fc: fe\n"));
    free(text);
    text = calls_of(deep, 3);
    assert_non_null(strstr(text, "  fb: fd\n"));
    assert_non_null(strstr(text, "  fc: fd\n"));
    assert_non_null(strstr(text, "  ff: fe\n"));
    free(text);
    text = calls_of(one, 2);
    assert_non_null(strstr(text, "  fe\n"));
    free(text);
    text = calls_of(ways, 3);
    assert_non_null(strstr(text, "  fe\n"));
    assert_non_null(strstr(text, "  ff\n"));
    assert_null(strstr(text, "  fc: fb\n"));
    free(text);
}

/* Threads that only wait have a row of their own. */
static void test_idle_row(void **state)
{
    const struct jr_filter all = everything();
    struct profile profile;
    char *text;

    (void)state;
    profile_init(&profile);
    for (uint32_t tid = 1; tid <= 2; tid++)
        wait_at(&profile, 1000, 3000000000, tid);
    profile_model(&profile, "", &all, NULL);
    text = text_of(&profile);
    assert_non_null(strstr(text, "     6.000                  2  fb  "
                                 "(threads always idle there)\n"));
    free(text);
    profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_open_in_order),
        cmocka_unit_test(test_open_selected),
        cmocka_unit_test(test_open_far),
        cmocka_unit_test(test_error_of_last_sample),
        cmocka_unit_test(test_error_of_long_stratum),
        cmocka_unit_test(test_error_of_rest),
        cmocka_unit_test(test_error_together),
        cmocka_unit_test(test_error_of_a_cut_stratum),
        cmocka_unit_test(test_error_of_guessed_rest),
        cmocka_unit_test(test_error_of_stay),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_wrapper),
        cmocka_unit_test(test_idle_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
