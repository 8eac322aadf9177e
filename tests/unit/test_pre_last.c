/* SPDX-License-Identifier: MIT
 *
 * What is left when a CPU timer stops: periods that ended without a signal; and
 * samples that come while it is written.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/futex.h>
#include <signal.h>
#include <ucontext.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/clock/clock_timer.h"
#include "../../preload/sig/log/chunk.h"
#include "../../preload/sig/sampling.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define TICK (4 * MS)
#define PERIOD (10 * MS)
#define OTHER 100U /* no thread's number */

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    fake.now_ns = 1000 * JP_NS;
    fake.cpu_ns = fake.process_ns = JP_NS;
    jp_process.tick_ns = TICK;
    jp_process.clock = &jp_clock_timer;
    jp_process.signal = SIGPROF;
    jp_config.period_ns = PERIOD;
    return jp_threads_init_sig();
}

/* A thread whose first period ends at `origin`; found: by a tick, before. */
static struct jp_thread *begin(uint32_t tid, int64_t origin, int found)
{
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    jp_thread_begin_sig(thread, tid);
    jp_clock_arm_sig(thread);
    assert_ptr_equal(thread->clock.kind, &jp_clock_timer);
    atomic_store(&thread->clock.first_tick_ns, found ? 0 : MS);
    thread->clock.origin_ns = origin;
    return thread;
}

static uint64_t missed_in(struct jp_thread *thread, uint64_t ns)
{
    fake.cpu_ns += ns;
    fake.now_ns += ns;
    const uint64_t missed = jp_clock_timer.missed_ticks(thread);
    assert_int_equal(jp_clock_timer.missed_ticks(thread), 0);
    return missed;
}

static void end(struct jp_thread *thread)
{
    jp_clock_end_sig(thread);
    jp_thread_free_sig(thread);
}

/* At a thread's end: periods that ended more than a tick ago, once; less, if it
 * has waited more often than there were ticks. */
static void test_own_end(void **state)
{
    (void)state;
    struct jp_thread *thread = begin(jp_sys_gettid_sig(), 3 * MS, 1);
    fake.switches = fake.cpu_ns / TICK;
    assert_int_equal(missed_in(thread, 16 * MS), PERIOD);
    assert_int_equal(missed_in(thread, MS), PERIOD);
    /* At 25 ms: of one that ended at 23. */
    assert_int_equal(missed_in(thread, 8 * MS), 0);
    fake.switches = fake.cpu_ns / TICK + 1;
    assert_int_equal(missed_in(thread, 0), PERIOD);
    end(thread);
}

/* Another thread ends the profile. */
static void test_end_of_all(void **state)
{
    (void)state;
    struct jp_thread *thread = begin(OTHER, 3 * MS, 1);
    assert_int_equal(missed_in(thread, 4 * MS), 0);
    assert_int_equal(missed_in(thread, MS), PERIOD);
    end(thread);
    /* No tick has ever found it: of periods that end at -3, 7, 17, 27, 37 and
     * 47 ms the first is not its own, and the last has just ended. */
    thread = begin(OTHER, -3 * (int64_t)MS, 0);
    assert_int_equal(missed_in(thread, 48 * MS), 4 * PERIOD);
    end(thread);
}

static uint64_t going_on(uint32_t tid)
{
    (void)tid;
    return fake.cpu_ns++;
}

/* One that computes meanwhile has seen each tick. */
static void test_end_of_computing(void **state)
{
    (void)state;
    struct jp_thread *thread = begin(OTHER, 3 * MS, 1);
    fake.cpu_of = going_on;
    assert_int_equal(missed_in(thread, 6 * MS), 0);
    assert_int_equal(missed_in(thread, 2 * MS), PERIOD);
    end(thread);
}

/* It is in the thread's next sample, or in one that is written at the end. */
static void test_carried(void **state)
{
    (void)state;
    struct jp_thread *thread = begin(OTHER, 3 * MS, 1);
    fake.cpu_ns += 8 * MS;
    jp_clock_disarm_sig(thread);
    assert_int_equal(jp_clock_take_carried_sig(thread), PERIOD);
    assert_int_equal(jp_clock_take_carried_sig(thread), 0);
    end(thread);
}

static struct jp_thread *waiting;
static int released; /* by the thread that writes what it left */

/* The thread waits for that one, and is woken. */
static int answer_futex(long number, const long a[5], long *result)
{
    if (number != SYS_futex)
        return 0;
    *result = -EAGAIN;
    if (a[0] == (long)&waiting->busy && a[1] == FUTEX_WAIT_PRIVATE &&
        waiting->busy == a[2]) {
        assert_int_equal(a[2], JP_THREAD_FLUSHED);
        atomic_store(&waiting->busy, released ? 0 : JP_THREAD_FLUSHED);
        *result = 0;
    }
    return 1;
}

/* A raised signal finds its thread busy with this.  (There is no log: a sample
 * that is taken is counted as lost for that.) */
static void raised(enum jp_thread_busy what, uint64_t taken, uint64_t lost)
{
    uint64_t counts[JP_COUNT_COUNT] = {0};
    const ucontext_t context = {0};
    atomic_store(&jp_log.state, JP_LOG_FAILED);
    fake.answers = answer_futex;
    waiting = begin(OTHER, 3 * MS, 1);
    atomic_store(&waiting->busy, what);
    jp_counters_use_sig(counts);
    jp_sampling_take_sig(waiting, JP_EVENT_RAISED, PERIOD, &context);
    jp_counters_use_sig(NULL);
    assert_int_equal(counts[JP_COUNT_LOST_NO_LOG], taken);
    assert_int_equal(counts[JP_COUNT_LOST_REENTRANT], lost);
    assert_int_equal(counts[JP_COUNT_LOST_NS], PERIOD);
    assert_int_equal(waiting->busy, taken ? 0 : what);
    atomic_store(&jp_log.state, JP_LOG_NONE);
    end(waiting);
}

/* Another thread, at the process's end, writes what this one left: its sample
 * is taken when that is done. */
static void test_raised_meanwhile(void **state)
{
    (void)state;
    released = 1;
    raised(JP_THREAD_FLUSHED, 1, 0);
    released = 0;
    raised(JP_THREAD_FLUSHED, 0, 1);
}

/* In the thread's own handler it is not waited for. */
static void test_raised_in_the_handler(void **state)
{
    (void)state;
    released = 1;
    raised(JP_THREAD_SAMPLES, 0, 1);
}

#define TEST(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_own_end),          TEST(test_end_of_all),
        TEST(test_end_of_computing), TEST(test_carried),
        TEST(test_raised_meanwhile), TEST(test_raised_in_the_handler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
