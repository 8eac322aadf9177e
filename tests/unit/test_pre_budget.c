/* SPDX-License-Identifier: MIT
 *
 * The handler's budget, played through without a clock: signals that cost so
 * much come to a thread whose time goes by.
 * Runs in: tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../preload/sig/state/budget.h"
#include "../../preload/sig/os/sys.h"

#define MS 1000000ULL
#define ASKED (MS / 10)

static int set_up(void **state)
{
    (void)state;
    jp_config.period_ns = ASKED;
    jp_budget_reset_sig();
    return 0;
}

/* A thread: what went by, of that what the handler took. */
struct thread {
    struct jp_budget budget;
    uint64_t time_ns, taken_ns;
};

/* One signal whose handler takes so long: at the end of a period, or at once
 * where the last one took longer than that. */
static void signal_comes(struct thread *thread, uint64_t taken_ns)
{
    const uint64_t period = thread->budget.period_ns;
    const uint64_t elapsed = taken_ns > period ? taken_ns : period;
    struct jp_visit visit;
    jp_budget_enter_sig(&thread->budget, &visit,
                        jp_sys_clock_sig(CLOCK_MONOTONIC) - taken_ns);
    /* It was never off the CPU. */
    if (visit.cpu_ns != 0)
        visit.cpu_ns -= taken_ns;
    jp_budget_leave_sig(&thread->budget, &visit, elapsed);
    thread->time_ns += elapsed;
    thread->taken_ns += taken_ns;
}

static void go_on(struct thread *thread, uint64_t taken_ns, uint64_t time_ns)
{
    const uint64_t end = thread->time_ns + time_ns;
    while (thread->time_ns < end)
        signal_comes(thread, taken_ns);
}

static double share_of(struct thread *thread, uint64_t taken_ns)
{
    thread->time_ns = thread->taken_ns = 0;
    go_on(thread, taken_ns, 2000 * MS);
    return (double)thread->taken_ns / (double)thread->time_ns;
}

/* Whatever a handler takes, it is a tenth of the time at most, but for what a
 * process may use up once. */
static void test_bound(void **state)
{
    (void)state;
    for (uint64_t taken = 1000; taken < MS; taken = taken * 3 / 2) {
        struct thread thread = {.time_ns = 0};
        jp_budget_begin_sig(&thread.budget);
        go_on(&thread, taken, 200 * MS);
        assert_true(share_of(&thread, taken) < 0.105);
    }
}

/* A period is no longer than needed. */
static void test_no_more_than_needed(void **state)
{
    (void)state;
    for (uint64_t taken = 10000; taken < MS; taken *= 2) {
        struct thread thread = {.time_ns = 0};
        jp_budget_begin_sig(&thread.budget);
        go_on(&thread, taken, 500 * MS);
        assert_true(share_of(&thread, taken) > 0.06);
    }
}

static void test_cheap_signals(void **state)
{
    (void)state;
    struct thread thread = {.time_ns = 0};
    jp_budget_begin_sig(&thread.budget);
    go_on(&thread, 2000, 1000 * MS);
    assert_int_equal(thread.budget.period_ns, ASKED);
    assert_false(jp_budget_exact_sig(&thread.budget));
}

/* What comes once in a while changes nothing. */
static void test_once(void **state)
{
    (void)state;
    struct thread thread = {.time_ns = 0};
    jp_budget_begin_sig(&thread.budget);
    for (int i = 0; i < 20; i++) {
        signal_comes(&thread, 2 * MS);
        go_on(&thread, 2000, 1000 * MS);
        assert_int_equal(thread.budget.period_ns, ASKED);
    }
}

static void test_comes_back(void **state)
{
    (void)state;
    for (uint64_t taken = 50000; taken < MS; taken *= 2) {
        struct thread thread = {.time_ns = 0};
        jp_budget_begin_sig(&thread.budget);
        go_on(&thread, taken, 300 * MS);
        assert_true(jp_budget_lowered_sig(&thread.budget));
        assert_true(jp_budget_exact_sig(&thread.budget));
        go_on(&thread, 2000, 1500 * MS);
        assert_int_equal(thread.budget.period_ns, ASKED);
    }
}

/* The thread comes to run, at once: not after a second. */
static void test_starving(void **state)
{
    (void)state;
    struct thread thread = {.time_ns = 0};
    jp_budget_begin_sig(&thread.budget);
    go_on(&thread, 30 * MS, 400 * MS);
    assert_true(thread.budget.period_ns > 3 * MS);
}

/* A period that was long to begin with stays as it is. */
static void test_long_period(void **state)
{
    (void)state;
    struct thread thread = {.time_ns = 0};
    jp_config.period_ns = 5000 * MS;
    jp_budget_begin_sig(&thread.budget);
    for (int i = 0; i < 100; i++)
        signal_comes(&thread, 900 * MS);
    assert_int_equal(thread.budget.period_ns, 5000 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_bound, set_up),
        cmocka_unit_test_setup(test_no_more_than_needed, set_up),
        cmocka_unit_test_setup(test_cheap_signals, set_up),
        cmocka_unit_test_setup(test_once, set_up),
        cmocka_unit_test_setup(test_comes_back, set_up),
        cmocka_unit_test_setup(test_starving, set_up),
        cmocka_unit_test_setup(test_long_period, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
