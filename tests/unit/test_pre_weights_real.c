/* SPDX-License-Identifier: MIT
 *
 * What a signal of the real-time clock stands for: strata and their moments,
 * running, blocked, waiting for a CPU, long waits and their ends, played
 * through on clocks that a test moves.
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
#include "../../preload/sig/timers/left.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define PERIOD (10 * MS)
#define TID 100U
#define LONGEST (UINT64_C(1) << 32)

#include "real_time.h"

/* Before its moment a signal is from before the timer was set anew. */
static void test_moment(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = begin();
    const uint64_t begun = fake.now_ns;
    const uint64_t moment = fake_timer(thread->clock.timer)->due_ns;
    assert_uint_in_range(moment - begun, 1, PERIOD);
    fake.now_ns = moment - 1;
    assert_false(signal_of(thread->clock.timer, thread, 0, &due));
    fake.now_ns = moment;
    look(thread, 1, &due);
    /* The whole stratum, whose next one begins behind it. */
    assert_int_equal(due.blocked, PERIOD);
    assert_uint_in_range(fake_timer(thread->clock.timer)->due_ns,
                         begun + PERIOD + 1, begun + 2 * PERIOD);
    jp_clock_end_sig(thread);
}

static void test_running(void **state)
{
    struct jp_due due;
    (void)state;
    const uint64_t begun = fake.now_ns, cpu = fake.cpu_ns;
    struct jp_thread *thread = looked_at();
    for (unsigned i = 0; i < 500; i++) {
        to_moment(thread, RUNS);
        look(thread, 0, &due);
        assert_int_equal(due.running, PERIOD);
        assert_int_equal(all_of(&due), PERIOD);
        assert_int_equal(thread->clock.wall.balance.given_ns - begun,
                         (i + 2) * PERIOD);
    }
    assert_uint_in_range(sum.running + 2 * PERIOD - (fake.cpu_ns - cpu), 0,
                         4 * PERIOD);
    jp_clock_end_sig(thread);
}

/* It never blocks and has a quarter of the CPU: both sums are known. */
static void test_ready(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = looked_at();
    const uint64_t cpu = fake.cpu_ns;
    const int64_t lent = thread->clock.wall.balance.lent_ns;
    for (unsigned i = 0; i < 400; i++) {
        const uint64_t now = fake.now_ns;
        to_moment(thread, WAITS);
        fake.cpu_ns += (fake.now_ns - now) / 4;
        look(thread, 0, &due);
        assert_true(due.running == 0 || due.ready == 0);
        assert_true(i < 20 || due.running + due.ready == PERIOD);
    }
    assert_uint_in_range(sum.running + 2 * PERIOD - (fake.cpu_ns - cpu), 0,
                         4 * PERIOD);
    assert_int_equal((int64_t)(sum.running + sum.ready),
                     (int64_t)(400 * PERIOD) - lent);
    assert_int_equal(thread->clock.wall.balance.lent_ns, 0);
    jp_clock_end_sig(thread);
}

/* It runs for a tenth of each period, is found running by chance in more of
 * them than that, and never in a wait: the rest of these periods is with the
 * samples for which it had no CPU. */
static void test_lent(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = looked_at();
    const uint64_t begun = thread->clock.wall.balance.given_ns;
    for (unsigned i = 0; i < 400; i++) {
        to_moment(thread, WAITS);
        fake.cpu_ns += PERIOD / 10;
        fake.switches += 2;
        if (i % 2 == 0)
            fake.now_ns += 80001;
        look(thread, 0, &due);
        assert_true(due.running == 0 || due.ready == 0);
    }
    assert_uint_in_range(sum.running, 35 * PERIOD, 45 * PERIOD);
    assert_uint_in_range(sum.running + sum.ready + 4 * PERIOD -
                             (thread->clock.wall.balance.given_ns - begun),
                         0, 8 * PERIOD);
    jp_clock_end_sig(thread);
}

/* Found outside a wait, having blocked: ready where the signal was late. */
static void test_late(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = looked_at();
    const int64_t lent = thread->clock.wall.balance.lent_ns;
    to_moment(thread, WAITS);
    fake.now_ns += 80001;
    fake.switches++;
    look(thread, 0, &due);
    assert_int_equal((int64_t)due.ready, (int64_t)PERIOD - lent);
    assert_int_equal(all_of(&due), due.ready);
    to_moment(thread, WAITS);
    fake.now_ns += 80000;
    fake.switches++;
    look(thread, 0, &due);
    assert_int_equal(due.ready, 0);
    jp_clock_end_sig(thread);
}

/* Other waits each time: no stratum is longer than a period. */
static void test_short_waits(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = begin();
    for (unsigned i = 0; i < 300; i++) {
        to_moment(thread, WAITS);
        fake.switches += 2;
        look(thread, 1, &due);
        assert_int_equal(due.blocked, PERIOD);
        assert_int_equal(all_of(&due), PERIOD);
    }
    assert_int_equal(asked, 0);
    jp_clock_end_sig(thread);
}

/* A thread that only waits tells what leaving a wait and getting back into it
 * takes: that is taken off the CPU time of one that did more.  The last test,
 * as what is known stays known. */
static void test_around(void **state)
{
    const uint64_t around = 30000, used = 70000;
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = begin();
    for (unsigned i = 0; i < 100; i++) {
        to_moment(thread, WAITS);
        fake.cpu_ns += i == 0 ? 0 : around;
        fake.switches++;
        look(thread, IN_CALL, &due);
    }
    const uint64_t looking = counts[JP_COUNT_LOOKING_NS];
    assert_int_equal(looking, 99 * around);
    const int64_t known = thread->clock.wall.balance.remainder_ns;
    for (unsigned i = 0; i < 100; i++) {
        to_moment(thread, WAITS);
        fake.cpu_ns += around + used;
        fake.switches += 3;
        look(thread, IN_CALL, &due);
    }
    assert_uint_in_range(counts[JP_COUNT_LOOKING_NS] - looking, 99 * around,
                         101 * around);
    assert_uint_in_range(thread->clock.wall.balance.remainder_ns - known,
                         99 * used, 101 * used);
    jp_clock_end_sig(thread);
}

/* A program in step with the clock: it runs for the first 3 ms of each 10.
 * Each millisecond of those gets its time. */
static void test_rhythm(void **state)
{
    enum { PERIODS = 20000 };
    uint64_t parts[3] = {0};
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = begin();
    const uint64_t begun = fake.now_ns, cpu = fake.cpu_ns;
    for (unsigned i = 0; i < PERIODS; i++) {
        to_moment(thread, WAITS);
        const uint64_t since = fake.now_ns - begun;
        const uint64_t phase = since % PERIOD;
        const int waits = phase >= 3 * MS;
        fake.cpu_ns = cpu + since / PERIOD * 3 * MS + (waits ? 3 * MS : phase);
        fake.switches = (long)(since / PERIOD) * 2 + waits;
        look(thread, waits, &due);
        if (!waits)
            parts[phase / MS] += due.running;
        else
            assert_int_equal(due.running, 0);
        assert_int_equal(due.ready + due.before + due.after, 0);
    }
    /* The CPU time is known; what is found is drawn. */
    assert_uint_in_range(sum.running + 3 * PERIOD - (fake.cpu_ns - cpu), 0,
                         6 * PERIOD);
    assert_uint_in_range(sum.running + sum.blocked + 3 * PERIOD -
                             PERIODS * PERIOD,
                         0, 6 * PERIOD);
    /* sqrt(20000 * 0.1 * 0.9) is 42. */
    for (unsigned i = 0; i < 3; i++)
        assert_uint_in_range(parts[i], (PERIODS / 10 - 4 * 42) * PERIOD,
                             (PERIODS / 10 + 4 * 42) * PERIOD);
    jp_clock_end_sig(thread);
}

/* A period, or, where more is wanted, to the end of a cell. */
static void is_about(uint64_t length, uint64_t wanted)
{
    const int one = wanted <= PERIOD;
    assert_uint_in_range(length, one ? PERIOD : wanted / 4,
                         one ? PERIOD : 3 * wanted / 2);
}

static void test_long_wait(void **state)
{
    struct jp_due due;
    uint64_t length = 0;
    (void)state;
    const uint64_t begun = fake.now_ns;
    struct jp_thread *thread = waiting(0);
    const uint64_t since = fake.now_ns;
    while (fake.now_ns < begun + 200 * JP_NS) {
        to_moment(thread, WAITS);
        look(thread, 1, &due);
        length = thread->clock.wall.stratum.end_ns -
                 thread->clock.wall.stratum.begin_ns;
        const uint64_t in_it = fake.now_ns - since;
        is_about(length, in_it > LONGEST ? LONGEST : in_it);
        assert_int_equal(thread->clock.wall.stratum.parked, in_it > PERIOD);
        /* All of it is known, up to now. */
        assert_int_equal(due.blocked, all_of(&due));
        assert_true(!thread->clock.wall.stratum.parked ||
                    thread->clock.wall.balance.given_ns >= fake.now_ns);
    }
    assert_int_equal(length, LONGEST);
    assert_int_equal(thread->clock.wall.stratum.begin_ns % LONGEST, 0);
    assert_int_equal(sum.blocked, fake.now_ns - begun);
    assert_true(looks < 120);
    /* The timer on its CPU clock tells when it runs. */
    assert_int_equal(fake_timer(thread->clock.cpu_wakeup)->due_ns,
                     fake.cpu_ns + MS);
    jp_clock_end_sig(thread);
    assert_int_equal(thread->clock.cpu_wakeup, -1);
}

/* Any moment of a long stratum is as likely, and threads share it. */
static void test_together(void **state)
{
    struct jp_due due;
    double sum_of_places = 0;
    unsigned equal = 0;
    (void)state;
    struct jp_thread *thread = waiting(0), *other = waiting(0);
    for (unsigned i = 0; i < 4100; i++) {
        const struct jp_wall *wall = &thread->clock.wall;
        const double place =
            (double)(wall->stratum.moment_ns - wall->stratum.begin_ns) /
            (double)(wall->stratum.end_ns - wall->stratum.begin_ns);
        assert_true(place > 0 && place <= 1);
        sum_of_places += i >= 100 ? place : 0;
        equal += wall->stratum.moment_ns == other->clock.wall.stratum.moment_ns;
        struct jp_thread *const next =
            wall->stratum.moment_ns <= other->clock.wall.stratum.moment_ns
                ? thread
                : other;
        const uint64_t moment = next->clock.wall.stratum.moment_ns;
        fake.now_ns = moment > fake.now_ns ? moment : fake.now_ns;
        look(next, 1, &due);
    }
    /* The mean's standard error is 0.29 / sqrt(4000). */
    assert_true(sum_of_places > 0.48 * 4000 && sum_of_places < 0.52 * 4000);
    assert_true(equal > 1900);
    jp_clock_end_sig(thread);
    jp_clock_end_sig(other);
}

/* Another stack is another wait. */
static void test_other_wait(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(0);
    same = 0;
    for (unsigned i = 0; i < 1000; i++) {
        to_moment(thread, WAITS);
        look(thread, 1, &due);
        assert_int_equal(due.blocked, PERIOD);
        assert_int_equal(thread->clock.wall.stratum.parked, 0);
    }
    assert_int_equal(asked, 1000);
    jp_clock_end_sig(thread);
}

/* One that computed lately is looked at more often. */
static void test_restless(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = looked_at();
    to_moment(thread, RUNS);
    look(thread, 0, &due);
    assert_int_equal(thread->clock.wall.wait.restless_ns,
                     fake.now_ns + 60 * JP_NS);
    to_moment(thread, WAITS);
    fake.switches++;
    look(thread, 1, &due);
    const uint64_t since = fake.now_ns;
    const struct jp_wall *wall = &thread->clock.wall;
    unsigned later = 0;
    while (fake.now_ns < since + 50 * JP_NS) {
        to_moment(thread, WAITS);
        look(thread, 1, &due);
        const uint64_t in_it = fake.now_ns - since;
        is_about(wall->stratum.end_ns - wall->stratum.begin_ns,
                 in_it < JP_NS ? PERIOD : in_it / 16);
        later += in_it > JP_NS;
    }
    assert_true(later < 100); /* in a hang they must not fill a ring */
    jp_clock_end_sig(thread);
}

/* The kernel tells at a tick that the thread runs: for so long, having blocked
 * just once, so its wait ended then. */
static void test_end_of_wait(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    const uint64_t given = thread->clock.wall.balance.given_ns;
    fake.now_ns += 5 * MS + 3 * MS / 2; /* waited, and ran */
    fake.cpu_ns += 3 * MS / 2;
    fake.switches++;
    assert_true(signal_of(thread->clock.cpu_wakeup, thread, 0, &due));
    assert_int_equal(due.before, 5 * MS);
    assert_int_equal(due.running, 3 * MS / 2);
    assert_int_equal(all_of(&due), fake.now_ns - given);
    /* A stratum begins here. */
    assert_int_equal(thread->clock.wall.stratum.begin_ns, fake.now_ns);
    assert_int_equal(thread->clock.wall.stratum.end_ns, fake.now_ns + PERIOD);
    assert_int_equal(thread->clock.wall.stratum.parked, 0);
    assert_int_equal(fake_timer(thread->clock.cpu_wakeup)->due_ns, 0);
    assert_false(signal_of(thread->clock.cpu_wakeup, thread, 0, &due));
    jp_clock_end_sig(thread);
}

/* It blocked more often: when is not known, and the stratum stays. */
static void test_unknown_end(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    const struct jp_wall wall = thread->clock.wall;
    fake.now_ns += 6 * MS;
    fake.cpu_ns += MS;
    fake.switches += 2;
    assert_false(signal_of(thread->clock.cpu_wakeup, thread, 0, &due));
    assert_int_equal(thread->clock.wall.stratum.end_ns, wall.stratum.end_ns);
    assert_int_equal(thread->clock.wall.balance.given_ns,
                     wall.balance.given_ns);
    assert_int_equal(thread->clock.wall.wait.restless_ns,
                     fake.now_ns + 60 * JP_NS);
    /* At its moment: no more than it can have used, the rest until then is the
     * wait's.  What comes after is known when it has passed. */
    to_moment(thread, WAITS);
    look(thread, 0, &due);
    assert_int_equal(due.running, MS);
    assert_int_equal(due.before, fake.now_ns - wall.balance.given_ns - MS);
    assert_int_equal(all_of(&due), fake.now_ns - wall.balance.given_ns);
    assert_int_equal(thread->clock.wall.stratum.begin_ns, fake.now_ns);
    jp_clock_end_sig(thread);
}

/* Where the last look was late, the wait that it saw may have been over. */
static void test_end_after_late_look(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    to_moment(thread, WAITS);
    fake.now_ns += MS + 1;
    look(thread, 1, &due);
    fake.now_ns += 5 * MS;
    fake.cpu_ns += MS;
    fake.switches++;
    assert_false(signal_of(thread->clock.cpu_wakeup, thread, 0, &due));
    jp_clock_end_sig(thread);
}

/* A long stratum finds another wait; what is before it is the first one's. */
static void test_before(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(30);
    const struct jp_wall wall = thread->clock.wall;
    assert_true(wall.stratum.begin_ns > wall.balance.given_ns);
    to_moment(thread, WAITS);
    fake.switches += 2;
    look(thread, 1, &due);
    assert_int_equal(due.before, wall.stratum.begin_ns - wall.balance.given_ns);
    assert_int_equal(due.blocked, fake.now_ns - wall.stratum.begin_ns);
    assert_int_equal(thread->clock.wall.stratum.parked, 0);
    /* The rest of the stratum is the other wait's as well. */
    const uint64_t moment = fake.now_ns;
    to_moment(thread, WAITS);
    fake.switches += 2;
    look(thread, 1, &due);
    assert_int_equal(due.before, wall.stratum.end_ns - moment);
    assert_int_equal(due.blocked, PERIOD);
    jp_clock_end_sig(thread);
}

/* A signal that came long after the stratum. */
static void test_after(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(0);
    same = 0;
    const uint64_t end = thread->clock.wall.stratum.end_ns;
    fake.now_ns = end + 3 * PERIOD;
    look(thread, 1, &due);
    assert_int_equal(due.blocked, PERIOD);
    assert_int_equal(due.after, 3 * PERIOD);
    assert_false(due.after_ready);
    /* The same of one that had no CPU. */
    fake.now_ns = thread->clock.wall.stratum.end_ns + 2 * PERIOD;
    look(thread, 0, &due);
    assert_int_equal(due.ready, PERIOD);
    assert_int_equal(due.after, 2 * PERIOD);
    assert_true(due.after_ready);
    /* Not less than a period. */
    fake.now_ns = thread->clock.wall.stratum.end_ns + PERIOD - 1;
    look(thread, 0, &due);
    assert_int_equal(due.ready, 2 * PERIOD - 1);
    assert_int_equal(due.after, 0);
    jp_clock_end_sig(thread);
}

/* The handler's budget: a moment gets the time since the one before. */
static void test_longer_period(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = begin();
    thread->clock.budget.period_ns = 4 * PERIOD;
    jp_clock_pace_sig(thread);
    uint64_t before = fake.now_ns;
    for (unsigned i = 0; i < 100; i++) {
        to_moment(thread, WAITS);
        fake.switches += 2;
        look(thread, 1, &due);
        assert_int_equal(due.blocked, fake.now_ns - before);
        assert_uint_in_range(due.blocked, 2 * PERIOD, 6 * PERIOD);
        before = fake.now_ns;
    }
    /* What is left of it at the end, where the thread was found last. */
    fake.now_ns += 3 * MS;
    fake.cpu_ns += MS;
    assert_true(jp_clock_real.flush(thread, &due));
    assert_int_equal(due.before, 2 * MS);
    assert_int_equal(due.running, MS);
    assert_false(jp_clock_real.flush(thread, &due));
    jp_clock_end_sig(thread);
}

static void test_rest(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(0);
    fake.now_ns = thread->clock.wall.stratum.moment_ns + PERIOD;
    assert_false(jp_clock_real.flush(thread, &due));
    jp_clock_end_sig(thread);
    thread = waiting(30);
    const uint64_t given = thread->clock.wall.balance.given_ns;
    fake.now_ns += 30 * MS;
    fake.cpu_ns += MS / 2;
    assert_true(jp_clock_real.flush(thread, &due));
    assert_int_equal(due.before, fake.now_ns - given - MS / 2);
    assert_int_equal(due.running, MS / 2);
    /* Its signals say no more. */
    assert_false(signal_of(thread->clock.timer, thread, 1, &due));
    jp_clock_end_sig(thread);
    /* What it used before and has not been given; but for a moment, and the
     * cost of the last look. */
    for (int i = 0; i < 2; i++) {
        thread = waiting(30);
        jp_left_learn_sig(MS / 5);
        thread->clock.wall.balance.remainder_ns = i * (int64_t)MS;
        fake.now_ns += 30 * MS;
        fake.cpu_ns += MS / 20;
        assert_true(jp_clock_real.flush(thread, &due));
        assert_int_equal(due.running, i * (MS + MS / 20 - jp_left_cost_sig()));
        jp_clock_end_sig(thread);
    }
}

/* Without a timer on its CPU clock nobody would tell that it runs. */
static void test_no_waker(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = waiting(0);
    fake.refuses_timers = 1;
    for (unsigned i = 0; i < 50; i++) {
        to_moment(thread, WAITS);
        look(thread, 1, &due);
        assert_int_equal(thread->clock.wall.stratum.end_ns -
                             thread->clock.wall.stratum.begin_ns,
                         PERIOD);
    }
    assert_int_equal(counts[JP_COUNT_NO_WAKER], 1);
    jp_clock_end_sig(thread);
}

/* What the budget grows with: of a thread that had time left over, its part. */
static void test_counted(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_thread *others[3] = {begin(), begin(), begin()};
    fake.cpu_ns += 3 * MS;
    to_moment(thread, WAITS);
    look(thread, 0, &due);
    assert_int_equal(due.counted_ns, 3 * MS);
    to_moment(thread, WAITS);
    fake.switches += 2;
    look(thread, 1, &due);
    assert_int_equal(due.counted_ns, PERIOD / 4);
    for (unsigned i = 0; i < 3; i++) {
        jp_clock_end_sig(others[i]);
        jp_thread_free_sig(others[i]);
    }
    to_moment(thread, WAITS);
    fake.switches += 2;
    look(thread, 1, &due);
    assert_int_equal(due.counted_ns, PERIOD);
    jp_clock_end_sig(thread);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_moment),
        TEST(test_running),
        TEST(test_ready),
        TEST(test_lent),
        TEST(test_late),

        TEST(test_short_waits),
        TEST(test_rhythm),
        TEST(test_long_wait),
        TEST(test_together),
        TEST(test_other_wait),
        TEST(test_restless),
        TEST(test_end_of_wait),
        TEST(test_unknown_end),
        TEST(test_end_after_late_look),
        TEST(test_before),
        TEST(test_after),
        TEST(test_longer_period),
        TEST(test_rest),
        TEST(test_no_waker),
        TEST(test_counted),
        TEST(test_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
