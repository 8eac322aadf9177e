/* SPDX-License-Identifier: MIT
 *
 * A thread that comes out of a long wait and then lacks a CPU, played through
 * on clocks that a test moves.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <signal.h>

#include <cmocka.h>

#include "in_range.h"
#include "fake_kernel.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/wall/clock_real.h"
#include "../../preload/sig/wall/delay.h"
#include "../../preload/sig/wall/schedule.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define PERIOD (10 * MS)
#define TID 100U

#include "real_time.h"

/* The thread waited for 5 ms, used 1.5 ms of CPU and lacked one four times, for
 * 40 ms in all, the first time as it was woken. */
static void wake_late(void)
{
    fake.now_ns += 5 * MS + 3 * MS / 2 + 40 * MS;
    fake.cpu_ns += 3 * MS / 2;
    fake.delay_ns += 40 * MS;
    fake.switches++;
    fake.held += 3;
}

/* What it lacked a CPU for before its wait's end was seen is not the wait's. */
static void test_end_of_wait(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    const uint64_t given = thread->clock.wall.balance.given_ns;
    wake_late();
    assert_true(signal_of(thread->clock.cpu_wakeup, thread, COMPUTES, &due));
    assert_int_equal(due.running, 3 * MS / 2);
    assert_int_equal(due.ready, 30 * MS);
    assert_int_equal(due.before, 15 * MS);
    assert_int_equal(all_of(&due), fake.now_ns - given);
    jp_clock_end_sig(thread);
}

/* Where the kernel does not tell, it is. */
static void test_not_told(void **state)
{
    struct jp_due due;
    (void)state;
    fake.delay_ns = JP_DELAY_UNKNOWN;
    struct jp_thread *thread = waiting(30);
    wake_late();
    fake.delay_ns = JP_DELAY_UNKNOWN;
    assert_true(signal_of(thread->clock.cpu_wakeup, thread, COMPUTES, &due));
    assert_int_equal(due.running, 3 * MS / 2);
    assert_int_equal(due.ready, 0);
    assert_int_equal(due.before, 45 * MS);
    jp_clock_end_sig(thread);
}

/* Looks that the thread had no CPU for add to what it has lacked: that counts
 * from the last of them on. */
static void test_after_late_looks(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    to_moment(thread, WAITS);
    fake.now_ns += 300 * MS;
    fake.delay_ns += 300 * MS;
    look(thread, IN_CALL, &due);
    to_moment(thread, WAITS);
    look(thread, IN_CALL, &due);
    wake_late();
    assert_true(signal_of(thread->clock.cpu_wakeup, thread, COMPUTES, &due));
    assert_int_equal(due.ready, 30 * MS);
    jp_clock_end_sig(thread);
}

/* Looks in time add to it too: many of them, each less than a millisecond. */
static void test_after_many_looks(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    for (int i = 0; i < 900; i++) {
        to_moment(thread, WAITS);
        fake.now_ns += MS / 2;
        fake.delay_ns += MS / 2;
        fake.switches++;
        look(thread, IN_CALL, &due);
    }
    fake.now_ns += 1000 * MS;
    wake_late();
    assert_true(signal_of(thread->clock.cpu_wakeup, thread, COMPUTES, &due));
    assert_int_equal(due.running, 3 * MS / 2);
    assert_uint_in_range(due.ready, 30 * MS, 31 * MS);
    jp_clock_end_sig(thread);
}

/* A look that came late, and a thread that has not blocked since: its wait was
 * over by then. */
static void test_over_at_a_late_look(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    to_moment(thread, WAITS);
    fake.now_ns += 20 * MS;
    look(thread, IN_CALL, &due);
    const uint64_t given = thread->clock.wall.balance.given_ns;
    assert_int_equal(given, fake.now_ns);
    fake.now_ns += 12 * MS;
    fake.cpu_ns += 5 * MS;
    assert_true(signal_of(thread->clock.cpu_wakeup, thread, COMPUTES, &due));
    assert_int_equal(due.running, 5 * MS);
    assert_int_equal(due.ready, 7 * MS);
    assert_int_equal(due.before, 0);
    assert_int_equal(thread->clock.wall.stratum.parked, 0);
    jp_clock_end_sig(thread);
}

/* When the wait ended is not known, but what the thread used of a CPU and what
 * it lacked one for: the rest until now is the wait's. */
static void test_unknown_end(void **state)
{
    (void)state;
    for (int held = 0; held < 2; held++) {
        struct jp_due due;
        struct jp_thread *thread = waiting(30);
        const struct jp_wall wall = thread->clock.wall;
        to_moment(thread, WAITS);
        fake.cpu_ns += 3 * MS / 2;
        fake.switches += 2;
        fake.held++;
        fake.delay_ns += held ? 40 * MS : MS;
        look(thread, COMPUTES, &due);
        const uint64_t lacked = held ? 40 * MS / 3 : 0;
        assert_int_equal(due.running, 3 * MS / 2);
        assert_int_equal(due.ready, lacked);
        assert_int_equal(due.before, fake.now_ns - wall.balance.given_ns -
                                         3 * MS / 2 - lacked);
        assert_int_equal(thread->clock.wall.stratum.begin_ns, fake.now_ns);
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
    }
}

/* A thread that goes on computing: its stratum, which may last seconds more,
 * ends. */
static void test_long_run(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    const uint64_t given = thread->clock.wall.balance.given_ns;
    const int timer = thread->clock.cpu_wakeup;
    fake.now_ns += 6 * MS;
    fake.cpu_ns += MS;
    fake.switches += 2;
    assert_false(signal_of(timer, thread, COMPUTES, &due));
    assert_int_equal(fake_timer(timer)->due_ns,
                     fake.cpu_ns + JP_SCHEDULE_RUN_PERIODS * PERIOD - MS);
    fake.now_ns += JP_SCHEDULE_RUN_PERIODS * PERIOD;
    fake.cpu_ns += JP_SCHEDULE_RUN_PERIODS * PERIOD;
    assert_true(signal_of(timer, thread, COMPUTES, &due));
    assert_int_equal(due.running, JP_SCHEDULE_RUN_PERIODS * PERIOD + MS);
    assert_int_equal(due.before, 5 * MS);
    assert_int_equal(all_of(&due), fake.now_ns - given);
    assert_int_equal(thread->clock.wall.stratum.parked, 0);
    assert_int_equal(thread->clock.wall.stratum.end_ns, fake.now_ns + PERIOD);
    jp_clock_end_sig(thread);
}

/* It lost the CPU after its last sample, on its way back into its wait, and has
 * used next to none since: the wait goes on, and so do long strata. */
static void test_way_back(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    to_moment(thread, WAITS);
    fake.cpu_ns += MS / 50;
    look(thread, COMPUTES, &due);
    assert_int_equal(due.running + due.ready, 0);
    assert_true(fake_timer(thread->clock.timer)->due_ns >
                fake.now_ns + 2 * PERIOD);
    jp_clock_end_sig(thread);
    thread = waiting(30);
    to_moment(thread, WAITS);
    fake.cpu_ns += MS / 2;
    look(thread, COMPUTES, &due);
    assert_true(fake_timer(thread->clock.timer)->due_ns <=
                fake.now_ns + 2 * PERIOD);
    jp_clock_end_sig(thread);
}

/* Its last signal has been kept back for longer than a period when it ends. */
static void test_kept_back(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(0);
    const uint64_t given = thread->clock.wall.balance.given_ns;
    fake.now_ns = thread->clock.wall.stratum.moment_ns + PERIOD + 1;
    fake.cpu_ns += PERIOD / 2;
    assert_true(jp_clock_real.flush(thread, &due));
    assert_int_equal(due.running, PERIOD / 2);
    assert_int_equal(due.before, fake.now_ns - given - PERIOD / 2);
    jp_clock_end_sig(thread);
}

static int traced;
int __wrap_jp_traced_sig(uint64_t now_ns);

int __wrap_jp_traced_sig(uint64_t now_ns)
{
    (void)now_ns;
    return traced;
}

/* It computes, and each signal comes late after it has blocked once more: for
 * want of a CPU, or for its tracer. */
static void test_traced(void **state)
{
    struct jp_due due;
    (void)state;
    for (traced = 0; traced < 2; traced++) {
        struct jp_thread *thread = looked_at();
        const uint64_t cpu = fake.cpu_ns;
        for (unsigned i = 0; i < 100; i++) {
            to_moment(thread, RUNS);
            fake.now_ns += MS / 5;
            fake.switches++;
            look(thread, COMPUTES, &due);
        }
        if (traced)
            assert_uint_in_range(sum.running, (fake.cpu_ns - cpu) / 100 * 97,
                                 fake.cpu_ns - cpu + PERIOD);
        else
            assert_true(sum.ready > 5 * PERIOD);
        jp_clock_end_sig(thread);
    }
    traced = 0;
}

/* Threads that have ended: the kernel knows none of them. */
static int all_gone(long number, const long a[5], long *result)
{
    (void)a;
    *result = -ESRCH;
    return number == SYS_tgkill;
}

/* One that ended without a word was not there for all the time since, and when
 * it ended is not known. */
static void test_gone(void **state)
{
    struct jp_due due = {0};
    (void)state;
    struct jp_thread *thread = waiting(0);
    fake.now_ns = thread->clock.wall.stratum.moment_ns + 100 * PERIOD;
    fake.cpu_ns = 0;
    fake.answers = all_gone;
    assert_false(jp_clock_real.flush(thread, &due));
    jp_clock_end_sig(thread);
    fake.answers = NULL;
    fake.cpu_ns = JP_NS;
    thread = waiting(30);
    const uint64_t rest = thread->clock.wall.stratum.begin_ns -
                          thread->clock.wall.balance.given_ns;
    fake.now_ns += 100 * JP_NS;
    fake.cpu_ns = 0;
    fake.answers = all_gone;
    jp_clock_real.flush(thread, &due);
    assert_int_equal(all_of(&due), rest);
    jp_clock_end_sig(thread);
}

/* That no signal came to a thread without a timer says nothing: its time is the
 * process's slow timer's. */
static void test_refused(void **state)
{
    struct jp_due due = {0};
    (void)state;
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    fake.refuses_timers = 1;
    jp_thread_begin_sig(thread, TID);
    jp_clock_arm_sig(thread);
    assert_null(thread->clock.kind);
    fake.now_ns += 100 * PERIOD;
    fake.cpu_ns += 10 * PERIOD;
    assert_false(jp_clock_real.flush(thread, &due));
    assert_int_equal(all_of(&due), 0);
    jp_clock_end_sig(thread);
}

/* The next sample has the time of one that was missed in any case. */
static void test_missed(void **state)
{
    siginfo_t info = {.si_code = SI_TIMER};
    const struct jp_signal signal = {.number = SIGALRM, .info = &info};
    (void)state;
    struct jp_thread *thread = begin();
    assert_int_equal(jp_clock_real.untaken(thread, &signal), 0);
    assert_int_equal(jp_clock_real.untaken(NULL, &signal), PERIOD);
    jp_clock_end_sig(thread);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_end_of_wait),
        TEST(test_not_told),
        TEST(test_after_late_looks),
        TEST(test_over_at_a_late_look),
        TEST(test_unknown_end),
        TEST(test_long_run),
        TEST(test_after_many_looks),
        TEST(test_way_back),
        TEST(test_kept_back),
        TEST(test_traced),
        TEST(test_gone),
        TEST(test_refused),
        TEST(test_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
