/* SPDX-License-Identifier: MIT
 *
 * Strata of real time whose moments have no memory, what a thread that ends is
 * given, and calls that a thread leaves when its signal comes, played through
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
#include "../../preload/sig/clock/clock_timer.h"
#include "../../preload/sig/timers/random.h"
#include "../../preload/sig/timers/timer.h"
#include "../../preload/sig/wall/queues.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define PERIOD (10 * MS)
#define TID 100U

#include "real_time.h"

/* Mean and variance of the exponential distribution, and its quarters: the
 * share above ln 2 and ln 4 times the mean is a half and a quarter. */
static void test_exponential(void **state)
{
    const unsigned count = 40000;
    const uint64_t mean = 10 * MS;
    uint64_t sum_of = 0, half = 0, quarter = 0, most = 0;
    double squares = 0;
    (void)state;
    for (unsigned i = 0; i < count; i++) {
        fake.now_ns += 12345;
        const uint64_t drawn =
            jp_random_exponential_sig(jp_clock_draw_sig(TID), mean);
        const double off = (double)drawn - (double)mean;
        assert_true(drawn >= 1 && drawn <= 23 * mean);
        sum_of += drawn;
        squares += off * off;
        half += drawn > 6931472;
        quarter += drawn > 13862944;
        most = drawn > most ? drawn : most;
    }
    assert_uint_in_range(sum_of / count, 97 * mean / 100, 103 * mean / 100);
    assert_uint_in_range((uint64_t)(squares / count / 1e12), 92, 108);
    assert_uint_in_range(half, 49 * count / 100, 51 * count / 100);
    assert_uint_in_range(quarter, 24 * count / 100, 26 * count / 100);
    assert_true(most > 8 * mean);
}

/* Another thread is found where this one waits. */
static void queue(void)
{
    jp_queues_found_sig(TID + 1, CALL, 0, fake.now_ns);
}

static void test_queues(void **state)
{
    const uint64_t now = 1000 * JP_NS;
    (void)state;
    assert_false(jp_queues_found_sig(1, 202, 0x7f0000001000, now));
    assert_false(jp_queues_found_sig(1, 202, 0x7f0000001000, now + MS));
    assert_true(jp_queues_found_sig(2, 202, 0x7f0000001000, now + 2 * MS));
    assert_true(jp_queues_found_sig(1, 202, 0x7f0000001000, now + 3 * MS));
    /* Another thing, another call, another time. */
    assert_false(jp_queues_found_sig(2, 202, 0x7f0000001040, now + 4 * MS));
    assert_false(jp_queues_found_sig(2, 0, 5, now + 4 * MS));
    assert_false(jp_queues_found_sig(3, 1, 5, now + 4 * MS));
    assert_true(jp_queues_found_sig(3, 0, 5, now + 3900 * MS));
    assert_false(jp_queues_found_sig(4, 0, 5, now + 8100 * MS));
}

/* A thread that queues is sampled anew at once, at its rate on the average, and
 * its samples' time stays near the clock's. */
static void test_memoryless(void **state)
{
    const unsigned count = 20000;
    struct jp_due due;
    uint64_t soon = 0, far = 0;
    double squares = 0;
    (void)state;
    struct jp_thread *thread = begin();
    same = 0;
    to_moment(thread, WAITS);
    queue();
    look(thread, IN_QUEUE, &due);
    assert_int_equal(due.blocked, PERIOD);
    const uint64_t begun = fake.now_ns;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t before = fake.now_ns;
        fake.switches += 2;
        to_moment(thread, WAITS);
        queue();
        look(thread, IN_QUEUE, &due);
        soon += fake.now_ns - before < PERIOD / 4;
        far += fake.now_ns - before > 2 * PERIOD;
        const double behind =
            ((double)(fake.now_ns - begun) - (double)(sum.blocked - PERIOD)) /
            (double)PERIOD;
        squares += behind * behind;
    }
    assert_uint_in_range((fake.now_ns - begun) / count, 97 * PERIOD / 100,
                         103 * PERIOD / 100);
    /* 1 - exp(-1/4) and exp(-2) of them. */
    assert_uint_in_range(soon, 21 * count / 100, 23 * count / 100);
    assert_uint_in_range(far, 12 * count / 100, 15 * count / 100);
    /* Its variance is 3 strata, and 1 for what is left of the stratum that the
     * first sample was in. */
    assert_true(squares / count < 5);
    jp_clock_end_sig(thread);
}

/* A thread that loses its CPU in the handler, for longer than a stratum each
 * time: its samples' time stays near the clock's all the same. */
static void test_memoryless_and_held(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = begin();
    same = 0;
    to_moment(thread, WAITS);
    queue();
    look(thread, IN_QUEUE, &due);
    const uint64_t begun = fake.now_ns;
    asking = 3 * PERIOD;
    for (unsigned i = 0; i < 2000; i++) {
        fake.switches++;
        to_moment(thread, WAITS);
        queue();
        look(thread, IN_QUEUE, &due);
        assert_uint_in_range(sum.blocked - PERIOD + 20 * PERIOD,
                             fake.now_ns - begun,
                             fake.now_ns - begun + 40 * PERIOD);
    }
    jp_clock_end_sig(thread);
}

/* Who is sampled goes to the end of a queue, and who was not for `patience` is
 * let through and works: its work is seen for as long as it lasts.  `busy` is
 * how much longer the handler's budget makes the period. */
static void check_queue(unsigned busy)
{
    const uint64_t period = busy * PERIOD;
    const uint64_t patience = 3 * period / 2, work = period / 2;
    struct jp_due due;
    uint64_t seen = 0, truth = 0, until = 0;
    struct jp_thread *thread = begin();
    thread->clock.budget.period_ns = period;
    same = 0;
    uint64_t waits_since = fake.now_ns;
    for (unsigned i = 0; i < 40000; i++) {
        const uint64_t moment = fake_timer(thread->clock.timer)->due_ns;
        while (moment >= until && moment > waits_since + patience) {
            until = waits_since + patience + work;
            waits_since = until;
            truth += work;
        }
        const int works = moment < until;
        /* A wait of several samples is known to be one. */
        same = !works && moment > until && waits_since > until;
        if (!works)
            waits_since = moment;
        to_moment(thread, WAITS);
        fake.switches += same ? 1 : 2;
        queue();
        look(thread, works ? IN_CALL : IN_QUEUE, &due);
        seen += works ? due.blocked : 0;
    }
    assert_uint_in_range(seen, 93 * truth / 100, 107 * truth / 100);
    jp_clock_end_sig(thread);
}

static void test_queue(void **state)
{
    (void)state;
    check_queue(1);
}

static void test_queue_where_signals_cost_much(void **state)
{
    (void)state;
    check_queue(2);
}

/* Where the handler's budget makes the period long, memoryless moments would
 * leave the thread's total far off: a moment gets the time since the one
 * before, and what the samples were behind or ahead by. */
static void test_queue_and_long_period(void **state)
{
    struct jp_due due;
    (void)state;
    for (unsigned i = 0; i < 50; i++) {
        struct jp_thread *thread = begin();
        const uint64_t begun = fake.now_ns;
        memset(&sum, 0, sizeof(sum));
        same = 0;
        for (unsigned j = 0; j < 24; j++) {
            to_moment(thread, WAITS);
            fake.switches += 2;
            queue();
            look(thread, IN_QUEUE, &due);
            assert_int_equal(thread->clock.wall.stratum.memoryless, j < 20);
            if (j != 19)
                continue;
            thread->clock.budget.period_ns = 20 * PERIOD;
            jp_clock_pace_sig(thread);
        }
        assert_int_equal(all_of(&sum), fake.now_ns - begun);
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
    }
}

/* The CPU time of a thread that waits in a queue for 20 ms of each 40 and gets
 * a CPU for every other piece of the rest. */
#define WAIT (20 * MS)
#define PIECE (5 * MS / 2)

static uint64_t cpu_of(uint64_t time)
{
    const uint64_t at = time % (2 * WAIT), all = time / (2 * WAIT) * (WAIT / 2);
    if (at < WAIT)
        return all;
    const uint64_t pieces = (at - WAIT) / PIECE, in = (at - WAIT) % PIECE;
    return all + pieces / 2 * PIECE + (pieces % 2 != 0 ? in : 0);
}

/* It has half of its time outside the queue, without a CPU for half of that:
 * also where a sample comes soon after the one before. */
static void test_queue_and_no_cpu(void **state)
{
    const uint64_t begun = 1000 * JP_NS, cpu = fake.cpu_ns;
    struct jp_due due;
    uint64_t outside = 0;
    (void)state;
    fake.now_ns = begun;
    struct jp_thread *thread = begin();
    same = 0;
    for (unsigned i = 0; i < 40000; i++) {
        const uint64_t last = fake.now_ns - begun;
        to_moment(thread, WAITS);
        uint64_t time = fake.now_ns - begun;
        const int waits = time % (2 * WAIT) < WAIT;
        const uint64_t in = waits ? 0 : time % (2 * WAIT) - WAIT;
        if (!waits && in / PIECE % 2 == 0)
            time += PIECE - in % PIECE; /* the signal is late */
        fake.now_ns = begun + time;
        fake.cpu_ns = cpu + cpu_of(time);
        /* It also blocks anew where a sample has taken it out of the queue. */
        fake.switches +=
            time / (2 * WAIT) - last / (2 * WAIT) + (last % (2 * WAIT) < WAIT);
        queue();
        look(thread, waits ? IN_QUEUE : COMPUTES, &due);
        outside += waits ? 0 : due.running + due.ready + due.after;
    }
    const uint64_t all = fake.now_ns - begun;
    assert_uint_in_range(outside, 97 * (all / 200), 103 * (all / 200));
    assert_uint_in_range(sum.running, 97 * (all / 400), 103 * (all / 400));
    jp_clock_end_sig(thread);
}

/* After a queue, the samples' time is far behind the clock, and the thread goes
 * on without a wait and with a quarter of the CPU: that is its share of all
 * that it is given, at once. */
static void test_behind_after_queue(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = looked_at();
    thread->clock.wall.stratum.begin_ns -= 30 * PERIOD;
    thread->clock.wall.balance.given_ns -= 30 * PERIOD;
    const uint64_t now = fake.now_ns;
    to_moment(thread, WAITS);
    fake.cpu_ns += (fake.now_ns - now) / 4;
    look(thread, COMPUTES, &due);
    assert_uint_in_range(due.running, 5 * PERIOD, 11 * PERIOD);
    assert_uint_in_range(due.running + due.ready, 30 * PERIOD, 33 * PERIOD);
    jp_clock_end_sig(thread);
}

/* Moments are drawn without memory for some seconds after a queue only. */
static void test_leaves_queue(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = begin();
    same = 0;
    to_moment(thread, WAITS);
    look(thread, IN_CALL, &due);
    assert_false(thread->clock.wall.stratum.memoryless);
    fake.now_ns += 5 * JP_NS; /* beyond the other tests' queues */
    fake.switches += 2;
    look(thread, IN_QUEUE, &due);
    assert_false(thread->clock.wall.stratum.memoryless);
    to_moment(thread, WAITS);
    fake.switches += 2;
    queue();
    look(thread, IN_QUEUE, &due);
    assert_true(thread->clock.wall.stratum.memoryless);
    const uint64_t queued = fake.now_ns;
    while (thread->clock.wall.stratum.memoryless) {
        to_moment(thread, WAITS);
        fake.switches += 2;
        look(thread, IN_CALL, &due);
    }
    assert_uint_in_range(fake.now_ns - queued, 4 * JP_NS,
                         4 * JP_NS + 24 * PERIOD);
    /* What the samples gave too little or too much is made up at once. */
    for (unsigned i = 0; i < 10; i++) {
        to_moment(thread, WAITS);
        fake.switches += 2;
        look(thread, IN_CALL, &due);
    }
    assert_uint_in_range(thread->clock.wall.balance.given_ns + PERIOD -
                             fake.now_ns,
                         0, 2 * PERIOD);
    jp_clock_end_sig(thread);
}

/* Many threads that wait, compute for half a period and end: all of their CPU
 * time is in running samples, on the average. */
static void test_brief(void **state)
{
    const uint64_t idle = 3 * PERIOD, work = PERIOD / 2;
    const unsigned count = 4000;
    struct jp_due due;
    (void)state;
    same = 0;
    for (unsigned i = 0; i < count; i++) {
        fake.now_ns += 12345 * (i % 1000);
        struct jp_thread *thread = begin();
        const uint64_t begun = fake.now_ns;
        const uint64_t cpu = fake.cpu_ns;
        for (;;) {
            const uint64_t moment = fake_timer(thread->clock.timer)->due_ns;
            if (moment > begun + idle + work)
                break;
            const int works = moment > begun + idle;
            fake.now_ns = moment;
            fake.cpu_ns = cpu + (works ? moment - begun - idle : 0);
            fake.switches++;
            look(thread, works ? COMPUTES : IN_CALL, &due);
        }
        fake.now_ns = begun + idle + work;
        fake.cpu_ns = cpu + work;
        assert_false(jp_clock_real.flush(thread, &due));
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
    }
    assert_uint_in_range(sum.running, 94 * count * work / 100,
                         106 * count * work / 100);
}

/* A thread is found in another wait within a long stratum and ends before the
 * stratum does, or behind it: its time is all given. */
static void test_rest_of_a_stratum(void **state)
{
    struct jp_due due;
    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        struct jp_thread *thread = begin();
        const uint64_t begun = fake.now_ns;
        memset(&sum, 0, sizeof(sum));
        same = 1;
        for (unsigned j = 0; j < 16; j++) {
            to_moment(thread, WAITS);
            fake.switches++;
            look(thread, IN_CALL, &due);
        }
        assert_true(thread->clock.wall.stratum.parked);
        same = 0;
        to_moment(thread, WAITS);
        fake.switches += 2;
        look(thread, IN_CALL, &due);
        assert_false(thread->clock.wall.stratum.parked);
        const uint64_t end = thread->clock.wall.stratum.end_ns - PERIOD;
        assert_true(fake.now_ns <= end);
        fake.now_ns += (end + PERIOD / 2 - fake.now_ns) * (i % 5) / 4;
        const uint64_t all = (fake.now_ns < end ? fake.now_ns : end) - begun;
        memset(&due, 0, sizeof(due));
        jp_clock_real.flush(thread, &due);
        assert_int_equal(all_of(&sum) + due.before, all);
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
    }
}

/* It computed, and a signal finds it where it leaves a call: one in which it
 * waited, and did not have a CPU yet, or one in which it woke others. */
static void test_woken(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = looked_at();
    for (unsigned i = 0; i < 40; i++) {
        to_moment(thread, WAITS);
        fake.cpu_ns += MS;
        fake.switches++;
        look(thread, i % 2 == 0 ? WOKEN : WAKES, &due);
        assert_true(i % 2 == 0 ? due.running == 0 && due.blocked != 0
                               : due.running != 0 && due.blocked == 0);
    }
    jp_clock_end_sig(thread);
}

/* A thread's life on a busy machine: a wait of BRIEF_WAIT, then computing, in
 * which it has no CPU for a period between two halves of one, and its end. */
#define BRIEF_WAIT (12 * PERIOD)
#define BRIEF_LIFE (BRIEF_WAIT + 2 * PERIOD)

static uint64_t brief_cpu(uint64_t age)
{
    if (age <= BRIEF_WAIT)
        return 0;
    const uint64_t in = age - BRIEF_WAIT, half = PERIOD / 2;
    return in < half ? in : in < half + PERIOD ? half : in - PERIOD;
}

/* What of such a thread's samples, and of what it is given at its end, is where
 * it computed. */
static uint64_t brief_computing(void)
{
    struct jp_due due;
    struct jp_thread *thread = begin();
    const uint64_t begun = fake.now_ns, cpu = fake.cpu_ns;
    const uint64_t back = begun + BRIEF_WAIT + PERIOD / 2 + PERIOD;
    uint64_t computing = 0;
    int waits = 1, woken = 0;
    for (;;) {
        const uint64_t moment = fake_timer(thread->clock.timer)->due_ns;
        const int wakes =
            thread->clock.wall.stratum.parked && !woken && moment > back;
        uint64_t at = wakes ? back : moment;
        if (at >= begun + BRIEF_LIFE)
            break;
        if (at > back - PERIOD && at < back)
            at = back;
        fake.now_ns = at;
        fake.cpu_ns = cpu + brief_cpu(at - begun);
        fake.switches += waits;
        woken |= wakes;
        const int in_wait = at < begun + BRIEF_WAIT;
        if (!signal_of(wakes ? thread->clock.cpu_wakeup : thread->clock.timer,
                       thread, in_wait ? IN_CALL : COMPUTES, &due)) {
            fake.switches -= waits;
            continue;
        }
        waits = in_wait;
        computing += waits ? 0 : all_of(&due) - due.before;
    }
    fake.now_ns = begun + BRIEF_LIFE;
    fake.cpu_ns = cpu + brief_cpu(BRIEF_LIFE);
    jp_clock_end_sig(thread);
    memset(&due, 0, sizeof(due));
    if (jp_clock_real.flush(thread, &due) && !waits)
        computing += all_of(&due);
    jp_thread_free_sig(thread);
    return computing;
}

/* Many such threads: what passed outside the wait is said to have, on the
 * average, with and without a CPU. */
static void test_brief_on_a_busy_machine(void **state)
{
    const unsigned count = 4000;
    uint64_t computing = 0;
    (void)state;
    same = 1;
    brief_computing();
    for (unsigned i = 0; i < count; i++) {
        fake.now_ns += 12345 * (i % 1000);
        computing += brief_computing();
    }
    assert_uint_in_range(computing, 94 * count * 2 * PERIOD / 100,
                         106 * count * 2 * PERIOD / 100);
}

/* Only threads that are not much older than others got have short strata for
 * that. */
static void test_young(void **state)
{
    struct jp_due due;
    (void)state;
    same = 1;
    brief_computing();
    for (unsigned i = 0; i < 2; i++) {
        fake.now_ns += i * 61 * JP_NS;
        struct jp_thread *thread = begin();
        const uint64_t begun = fake.now_ns;
        while (!thread->clock.wall.stratum.parked) {
            to_moment(thread, WAITS);
            fake.switches++;
            look(thread, IN_CALL, &due);
        }
        const uint64_t age = fake.now_ns - begun;
        assert_uint_in_range(age, i == 0 ? 2 * BRIEF_LIFE : PERIOD,
                             i == 0 ? 2 * BRIEF_LIFE + 2 * PERIOD : 4 * PERIOD);
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
    }
}

/* Found running each time, though it uses `share` hundredths of the time or
 * gets no CPU for long: its total is right all the same. */
static void check_running(uint64_t share, uint64_t gap)
{
    struct jp_due due;
    struct jp_thread *thread = looked_at();
    const uint64_t begun = thread->clock.wall.balance.given_ns;
    uint64_t last = fake.now_ns;
    for (unsigned i = 0; i < 400; i++) {
        to_moment(thread, WAITS);
        if (i % 50 == 49)
            fake.now_ns += gap;
        fake.cpu_ns += (fake.now_ns - last) * share / 100;
        fake.switches += 2;
        last = fake.now_ns;
        look(thread, COMPUTES, &due);
    }
    const uint64_t all = fake.now_ns - begun;
    assert_uint_in_range(all_of(&sum), all - 6 * PERIOD, all + 6 * PERIOD);
    if (gap == 0)
        assert_uint_in_range(sum.running, all * share / 100 - 6 * PERIOD,
                             all * share / 100 + 6 * PERIOD);
    jp_clock_end_sig(thread);
    jp_thread_free_sig(thread);
    memset(&sum, 0, sizeof(sum));
}

static void test_total_of_running(void **state)
{
    (void)state;
    check_running(60, 0);
    check_running(10, 0);
    check_running(95, 0);
    check_running(60, 30 * PERIOD);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_exponential),
        TEST(test_queues),
        TEST(test_memoryless),
        TEST(test_memoryless_and_held),
        TEST(test_queue),
        TEST(test_queue_where_signals_cost_much),
        TEST(test_queue_and_long_period),
        TEST(test_queue_and_no_cpu),
        TEST(test_behind_after_queue),
        TEST(test_leaves_queue),
        TEST(test_brief),
        TEST(test_rest_of_a_stratum),
        TEST(test_woken),
        TEST(test_total_of_running),
        TEST(test_brief_on_a_busy_machine),
        TEST(test_young),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
