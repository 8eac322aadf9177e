/* SPDX-License-Identifier: MIT
 *
 * What CPU clocks' samples stand for is on the average what threads of every
 * length have used.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "ticked.h"

/* A thread of so much CPU time that sees its first tick at the age of `first`;
 * returns what its signals stand for. */
static uint64_t live(uint64_t length, uint64_t first)
{
    struct jp_thread *thread = begin();
    uint64_t sum = 0, age = 0, next = first;
    while (next <= length) {
        run_for(next - age);
        age = next;
        sum += thread->clock.event != NULL ? due(thread, 0) : tick(thread);
        next += thread->clock.event != NULL ? event_ns : TICK;
    }
    run_for(length - age);
    end(thread);
    return sum;
}

#define MAKING (3 * MS / 2)

/* The same where jprof takes MAKING for the first sample, which lengthens the
 * thread's CPU time; a tick that comes meanwhile is noticed behind it. */
static uint64_t live_made(uint64_t length, uint64_t first)
{
    struct jp_thread *thread = begin();
    uint64_t sum = 0, age = 0, next = first, most = length;
    while (next <= most) {
        run_for(next - age);
        age = next;
        const uint64_t seen =
            thread->clock.event != NULL ? due(thread, 0) : tick(thread);
        if (sum == 0 && seen != 0) {
            run_for(MAKING);
            jp_clock_skip_sig(thread, MAKING);
            age += MAKING;
            most += MAKING;
        }
        sum += seen;
        next += TICK;
        if (thread->clock.event != NULL)
            next = age + event_ns;
        else if (next < age)
            next = age;
    }
    run_for(most - age);
    end(thread);
    return sum;
}

static uint64_t (*lives)(uint64_t length, uint64_t first) = live;

/* The mean of what is seen of threads is their CPU time: by four standard
 * errors, which are a tenth of it at most. */
static void check_mean(uint64_t length)
{
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < LIVES; i++) {
        fake.now_ns += random_to(JP_NS);
        const double seen = (double)lives(length, random_to(TICK));
        sum += seen;
        squares += seen * seen;
    }
    const double mean = sum / LIVES, off = mean - (double)length;
    const double error = (squares / LIVES - mean * mean) / LIVES;
    const double most = (double)length / 40;
    assert_true(error < most * most);
    if (off * off > 16 * error + 1)
        fail_msg("threads of %.3f ms have %.3f ms", (double)length / 1e6,
                 mean / 1e6);
}

static void check_means(const struct jp_clock_kind *kind, uint64_t period,
                        uint64_t longest)
{
    static const uint64_t lengths[] = {MS / 2,  2 * MS,  TICK,      5 * MS,
                                       11 * MS, 30 * MS, UINT64_MAX};
    jp_process.clock = kind;
    jp_config.period_ns = period;
    for (unsigned i = 0; lengths[i] <= longest; i++)
        check_mean(lengths[i]);
}

static void test_timer_means(void **state)
{
    (void)state;
    check_means(&jp_clock_timer, TICK, JP_NS);
    check_means(&jp_clock_timer, 7 * MS, JP_NS);
    check_means(&jp_clock_timer, 10 * MS, JP_NS);
}

/* By JP_CLOCK. */
static void test_timer_means_below_a_tick(void **state)
{
    (void)state;
    check_means(&jp_clock_timer, MS, JP_NS);
    check_means(&jp_clock_timer, 3 * MS, JP_NS);
}

static void test_perf_means(void **state)
{
    (void)state;
    check_means(&jp_clock_perf, MS / 10, JP_NS);
    check_means(&jp_clock_perf, MS, JP_NS);
    /* No part of a tick: beyond one, some of a period may be missing. */
    check_means(&jp_clock_perf, 3 * MS, TICK);
}

/* What jprof itself takes for a first sample is in nobody's weights.  (The next
 * tick then comes sooner in the thread's own time: of threads of about a tick,
 * that is a fifth too much.) */
static void test_means_without_making(void **state)
{
    (void)state;
    lives = live_made;
    check_means(&jp_clock_perf, MS, JP_NS);
    jp_process.clock = &jp_clock_timer;
    for (unsigned i = 0; i < 2; i++) {
        jp_config.period_ns = i == 0 ? TICK : MS;
        check_mean(MS / 2);
        check_mean(2 * MS);
        check_mean(11 * MS);
        check_mean(30 * MS);
    }
    lives = live;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_timer_means, set_up),
        cmocka_unit_test_setup(test_timer_means_below_a_tick, set_up),
        cmocka_unit_test_setup(test_perf_means, set_up),
        cmocka_unit_test_setup(test_means_without_making, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
