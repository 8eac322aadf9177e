/* SPDX-License-Identifier: MIT
 *
 * Moments of long strata of many threads that wait together, what a waiting
 * thread is given at its end, and clocks that a filter of the program's
 * refuses. Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <errno.h>
#include <signal.h>

#include <cmocka.h>

#include "in_range.h"
#include "fake_kernel.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/wall/clock_real.h"
#include "../../preload/sig/timers/left.h"
#include "../../preload/sig/wall/observe.h"
#include "../../preload/sig/wall/schedule.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define PERIOD (10 * MS)
#define TID 100U

#include "real_time.h"

#define CELL JP_SCHEDULE_MAX_NS
#define CELLS 400U
#define GROUP 8U
#define MANY_GROUPS 12U

/* The moment of the thread's stratum that is one whole cell, from its start. */
static uint64_t moment_in(struct jp_thread *thread, uint64_t cell)
{
    const struct jp_given given = jp_observe_given_sig(thread);
    const struct jp_draw draw = jp_observe_draw_sig(thread, thread->tid);
    const struct jp_plan plan = {cell * CELL, CELL, 0};
    thread->clock.wall.stratum.parked = 1;
    jp_schedule_begin_sig(&thread->clock.wall, &given, &draw, &plan);
    assert_int_equal(thread->clock.wall.stratum.end_ns, (cell + 1) * CELL);
    return thread->clock.wall.stratum.moment_ns - cell * CELL;
}

/* The moments of all threads in a cell: those of a group are one, and each
 * group's is in a part of its own. */
static void moments_in(struct jp_thread **threads, unsigned groups,
                       uint64_t cell, uint64_t *moments)
{
    unsigned taken = 0;
    memset(moments, 0, groups * sizeof(*moments));
    for (unsigned i = 0; i < groups * GROUP; i++) {
        const uint64_t moment = moment_in(threads[i], cell);
        const unsigned group = jp_thread_index_sig(threads[i]) % groups;
        assert_true(moments[group] == 0 || moments[group] == moment);
        moments[group] = moment;
        taken |= 1U << (moment / (CELL / groups));
    }
    assert_int_equal(taken, (1U << groups) - 1);
}

/* All threads are elsewhere for a part of the cell, from `from` on: so many of
 * them as of the time are seen there, but for two groups. */
static void check_visit(const uint64_t *moments, unsigned groups, uint64_t from)
{
    const uint64_t length = 7 * CELL / 10;
    unsigned seen = 0;
    for (unsigned i = 0; i < groups; i++)
        seen += moments[i] >= from && moments[i] < from + length;
    assert_true(abs((int)(10 * seen) - (int)(7 * groups)) <= 20);
}

static void check_groups(unsigned groups)
{
    struct jp_thread *threads[MANY_GROUPS * GROUP];
    uint64_t moments[MANY_GROUPS], sums[MANY_GROUPS] = {0}, early = 0;
    for (unsigned i = 0; i < groups * GROUP; i++)
        threads[i] = begin();
    for (unsigned cell = 1; cell <= CELLS; cell++) {
        moments_in(threads, groups, cell, moments);
        check_visit(moments, groups, CELL * (cell % 30) / 100);
        for (unsigned i = 0; i < groups; i++)
            sums[i] += moments[i];
        early += moments[0] < moments[groups - 1];
    }
    /* Each group's moments are everywhere, whatever the others' are. */
    for (unsigned i = 0; i < groups; i++)
        assert_uint_in_range(sums[i] / CELLS, 43 * CELL / 100, 57 * CELL / 100);
    assert_uint_in_range(early, 42 * CELLS / 100, 58 * CELLS / 100);
    for (unsigned i = 0; i < groups * GROUP; i++) {
        jp_clock_end_sig(threads[i]);
        jp_thread_free_sig(threads[i]);
    }
}

static void test_spread(void **state)
{
    (void)state;
    check_groups(8);
    check_groups(MANY_GROUPS);
}

/* A thread whose waits are long, after a signal that found it in one. */
static struct jp_thread *parked(void)
{
    struct jp_due due;
    struct jp_thread *thread = begin();
    thread->tid = jp_sys_gettid_sig();
    while (!thread->clock.wall.stratum.parked) {
        to_moment(thread, WAITS);
        fake.switches++;
        look(thread, IN_CALL, &due);
    }
    return thread;
}

/* At its end, the rest of its time is the wait's: surely, if it blocked just
 * once since the last signal. */
static void test_guessed(void **state)
{
    (void)state;
    for (int blocks = 1; blocks <= 2; blocks++) {
        struct jp_due due = {0};
        struct jp_thread *thread = parked();
        fake.now_ns += PERIOD;
        fake.switches += blocks;
        assert_true(jp_clock_real.flush(thread, &due));
        assert_true(due.before >= PERIOD);
        assert_int_equal(due.guessed, blocks > 1);
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
    }
}

/* Of another thread, CPU time tells. */
static void test_guessed_of_another(void **state)
{
    (void)state;
    for (int runs = 0; runs < 2; runs++) {
        struct jp_due due = {0};
        struct jp_thread *thread = parked();
        thread->tid = TID;
        fake.now_ns += PERIOD;
        fake.cpu_ns += runs ? 2 * MS : MS / 10;
        assert_true(jp_clock_real.flush(thread, &due));
        assert_int_equal(due.guessed, runs);
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
    }
}

/* Behind a filter that refuses clock_gettime, and one that refuses getrusage
 * besides. */
static int refused_usage;
static uint64_t cpu_of_usage;

static int no_clock(long number, const long a[5], long *result)
{
    struct rusage *usage = (struct rusage *)a[1];
    if (number != SYS_getrusage)
        return 0;
    *result = refused_usage ? -EPERM : 0;
    if (refused_usage)
        return 1;
    memset(usage, 0, sizeof(*usage));
    usage->ru_nvcsw = fake.switches;
    usage->ru_utime.tv_sec = (time_t)(cpu_of_usage / JP_NS);
    usage->ru_utime.tv_usec = (long)(cpu_of_usage % JP_NS / 1000);
    return 1;
}

/* What computes is running, for want of a clock as well. */
static void test_no_cpu_clock(void **state)
{
    (void)state;
    for (refused_usage = 0; refused_usage < 2; refused_usage++) {
        struct jp_due due;
        struct jp_thread *thread = looked_at();
        cpu_of_usage = fake.cpu_ns;
        fake.cpu_ns = 0;
        fake.answers = no_clock;
        for (unsigned i = 0; i < 100; i++) {
            const uint64_t before = fake.now_ns;
            to_moment(thread, WAITS);
            cpu_of_usage += fake.now_ns - before;
            look(thread, COMPUTES, &due);
        }
        assert_int_equal(sum.blocked + sum.before, 0);
        assert_uint_in_range(sum.running, 98 * PERIOD, 101 * PERIOD);
        assert_true(sum.ready <= 2 * PERIOD);
        fake.answers = NULL;
        fake.cpu_ns = cpu_of_usage;
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
    }
}

/* The length of a thread's stratum after it was found before a call. */
static uint64_t found_before(struct jp_thread *thread, long call)
{
    struct jp_due due;
    to_moment(thread, WAITS);
    found_call = call;
    look(thread, IN_QUEUE, &due);
    found_call = CALL;
    return thread->clock.wall.stratum.end_ns -
           thread->clock.wall.stratum.begin_ns;
}

/* A call in which nobody waits but for a supervisor is left alone for a second
 * once a thread has been seen to wait in it, and so are other threads' from
 * then on.  One in which threads wait all the time is not, nor what a thread
 * that computes is about to call. */
static void test_supervised(void **state)
{
    (void)state;
    assert_false(jp_left_supervised_sig(-1, 1));
    assert_false(jp_left_supervised_sig(SYS_futex, 1));
    assert_false(jp_left_supervised_sig(SYS_preadv2, 1));
    assert_false(jp_left_supervised_sig(SYS_clock_gettime, 1));
#ifdef SYS_futex_waitv
    assert_false(jp_left_supervised_sig(SYS_futex_waitv, 1));
#endif
    assert_false(jp_left_supervised_sig(SYS_mount, 0));
    for (int waited = 0; waited < 3; waited++) {
        struct jp_thread *thread = begin();
        fake.switches += 2;
        uint64_t length = found_before(thread, SYS_mount);
        if (waited < 2) {
            assert_int_equal(length, PERIOD);
            fake.switches += waited;
            length = found_before(thread, SYS_mount);
        }
        if (waited > 0)
            assert_uint_in_range(length, JP_NS / 4, 2 * JP_NS);
        else
            assert_true(length < 3 * PERIOD);
        assert_int_equal(jp_left_supervised_sig(SYS_mount, 0), waited > 0);
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
    }
}

/* The stratum of a thread that has been in one wait for eight seconds. */
static uint64_t stratum_of(uint32_t tid)
{
    struct jp_due due;
    struct jp_thread *thread = begin();
    const uint64_t begun = fake.now_ns;
    thread->tid = tid;
    while (fake.now_ns < begun + 8 * JP_NS) {
        to_moment(thread, WAITS);
        fake.switches++;
        look(thread, IN_CALL, &due);
    }
    const uint64_t length =
        thread->clock.wall.stratum.end_ns - thread->clock.wall.stratum.begin_ns;
    jp_clock_end_sig(thread);
    jp_thread_free_sig(thread);
    return length;
}

/* Where threads end, others but the main thread are looked at more often. */
static void test_passing(void **state)
{
    (void)state;
    assert_true(stratum_of(TID + 1) > 2 * JP_NS);
    struct jp_thread *thread = begin();
    fake.now_ns += PERIOD;
    jp_observe_ended_sig(thread, fake.now_ns);
    jp_clock_end_sig(thread);
    jp_thread_free_sig(thread);
    assert_true(stratum_of(TID + 1) < JP_NS);
    assert_true(stratum_of(TID) > 2 * JP_NS);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_spread),
        TEST(test_guessed),
        TEST(test_guessed_of_another),
        TEST(test_no_cpu_clock),
        TEST(test_supervised),
        TEST(test_passing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
