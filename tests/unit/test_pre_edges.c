/* SPDX-License-Identifier: MIT
 *
 * CPU time that threads use outside of their clocks, at a process's end, and
 * that of threads without one.
 * Runs in: unit tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "pass.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/clock/clock_timer.h"
#include "../../preload/sig/clock/process_timer.h"
#include "../../preload/sig/clock/unseen.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL

static uint32_t unreadable;

static uint64_t cpu_of(uint32_t tid)
{
    return tid == unreadable ? 0 : tid * MS;
}

/* What the process used and no thread's clock shows, and what the threads used
 * before their clocks began. */
static void is_what_no_clock_shows(void **state)
{
    (void)state;
    assert_int_equal(jp_threads_init_sig(), 0);
    jp_thread_begin_sig(jp_thread_new_sig(), 30);
    jp_thread_begin_sig(jp_thread_new_sig(), 50);
    jp_thread_armed_sig(5 * MS);
    assert_int_equal(jp_threads_edges_sig(90 * MS), 15 * MS);
    assert_int_equal(jp_threads_edges_sig(70 * MS), 5 * MS);
}

/* Nor is it what threads used that were gone before the profile began, by an
 * exec. */
static void is_not_what_was_there_before(void **state)
{
    (void)state;
    jp_threads_since_sig(2080 * MS);
    assert_int_equal(jp_threads_gone_sig(), 2000 * MS);
    assert_int_equal(jp_threads_edges_sig(2090 * MS), 15 * MS);
    jp_threads_since_sig(0);
    assert_int_equal(jp_threads_gone_sig(), 0);
}

/* A filter forbids to read the clocks: nothing is known of the rest, which is
 * not all the process's time, as a renderer of Chromium's was said to have. */
static void is_not_what_cannot_be_read(void **state)
{
    (void)state;
    unreadable = 50;
    assert_int_equal(jp_threads_edges_sig(90 * MS), 5 * MS);
}

/* A thread that was refused a timer: signals of the process's, and what is left
 * at the end, stand for its CPU time, but not for that of a pause. */
static void is_told_without_a_clock(void **state)
{
    (void)state;
    fake.cpu_of = NULL;
    fake.cpu_ns = 1000 * MS;
    fake.refuses_timers = 1;
    atomic_store(&jp_process.running, 1);
    jp_process.clock = &jp_clock_timer;
    jp_process.tick_ns = 4 * MS;
    jp_config.period_ns = 10 * MS;
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    jp_thread_begin_sig(thread, 70);
    jp_clock_arm_sig(thread);
    assert_null(thread->clock.kind);
    fake.cpu_ns += 7 * MS;
    assert_int_equal(jp_unseen_signal_sig(thread), 7 * MS);
    assert_int_equal(jp_unseen_signal_sig(thread), 0);
    fake.cpu_ns += 5 * MS;
    assert_int_equal(jp_unseen_left_sig(thread), 5 * MS);
    fake.cpu_ns += MS / 20;
    assert_int_equal(jp_unseen_left_sig(thread), 0);
    fake.cpu_ns += MS;
    assert_int_equal(jp_unseen_left_sig(thread), MS + MS / 20);
    atomic_store(&jp_process.running, 0);
    fake.cpu_ns += 2 * MS;
    assert_int_equal(jp_unseen_left_sig(thread), 2 * MS);
    fake.cpu_ns += 30 * MS;
    assert_int_equal(jp_unseen_left_sig(thread), 0);
    jp_clock_arm_sig(thread);
    assert_int_equal(jp_unseen_signal_sig(thread), 0);
}

/* A signal that was on its way when the profile was paused: what the thread
 * uses from then on is not to be sampled, and the thread gets no timer. */
static void is_not_told_in_a_pause(void **state)
{
    (void)state;
    atomic_store(&jp_process.running, 1);
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    jp_thread_begin_sig(thread, 75);
    jp_clock_arm_sig(thread);
    assert_null(thread->clock.kind);
    fake.cpu_ns += 4 * MS;
    atomic_store(&jp_process.running, 0);
    assert_int_equal(jp_unseen_left_sig(thread), 4 * MS);
    fake.cpu_ns += MS;
    fake.refuses_timers = 0;
    assert_int_equal(jp_unseen_signal_sig(thread), 0);
    assert_null(thread->clock.kind);
    fake.cpu_ns += 30 * MS;
    assert_int_equal(jp_unseen_left_sig(thread), 0); /* the process's end */
    jp_clock_end_sig(thread);
    jp_thread_free_sig(thread);
}

static uint64_t weight_of(struct jp_thread *thread, int overrun)
{
    siginfo_t info = {.si_code = SI_TIMER};
    const struct jp_signal signal = {.number = SIGPROF, .info = &info};
    struct jp_due due = {0};
    info.si_overrun = overrun;
    assert_true(take_due(&jp_clock_timer, thread, &signal, &due));
    return due.cpu;
}

/* A thread with a timer, behind a filter that forbids to read its clock: its
 * signals and their overruns are all that is known, also of the first tick and
 * of a lengthened period. */
static void is_told_by_the_timer_alone(void **state)
{
    (void)state;
    fake.refuses_timers = 0;
    fake.cpu_ns = 1000 * MS;
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    jp_thread_begin_sig(thread, 80);
    jp_clock_arm_sig(thread);
    assert_ptr_equal(thread->clock.kind, &jp_clock_timer);
    fake.cpu_ns = 0;
    atomic_store(&thread->clock.first_tick_ns, MS);
    assert_int_equal(weight_of(thread, 0), 10 * MS);
    assert_int_equal(weight_of(thread, 1), 20 * MS);
    thread->clock.budget.period_ns = 40 * MS;
    assert_int_equal(weight_of(thread, 0), 40 * MS);
    assert_int_equal(weight_of(thread, 2), 120 * MS);
    assert_int_equal(thread->clock.periods, 19);
    jp_clock_end_sig(thread);
    jp_thread_free_sig(thread);
}

static uint64_t cpu_of_none(uint32_t tid)
{
    (void)tid;
    return 0;
}

/* A thread without a timer, of which samples cover so much; found: by a signal
 * of the process's. */
static struct jp_thread *without_timer(uint32_t tid, uint64_t seen_ns,
                                       int found)
{
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    jp_thread_begin_sig(thread, tid);
    thread->clock.refused = JP_REFUSED_FIRST;
    thread->clock.seen_ns = seen_ns;
    thread->last.sampled_ns = found;
    return thread;
}

/* Behind a filter that forbids to read other threads' clocks, at the end: what
 * the process has used and nothing else accounts for belongs to the threads
 * that a signal has found, up to two periods of each.  What was used before an
 * exec in threads that are gone is none of it. */
static void is_shared_where_no_clock_shows_it(void **state)
{
    (void)state;
    jp_threads_reset_sig();
    fake.cpu_of = cpu_of_none;
    fake.refuses_timers = 0;
    assert_int_equal(jp_process_timer_run_sig(1), 0);
    struct jp_thread *one = without_timer(30, 6 * MS, 1);
    struct jp_thread *other = without_timer(50, 2 * MS, 1);
    struct jp_thread *unfound = without_timer(70, 0, 0);
    jp_thread_end_sig(without_timer(80, 0, 1), 3 * MS);
    struct jp_thread *timed = jp_thread_new_sig();
    jp_thread_begin_sig(timed, 90);
    timed->clock.cpu_ns = 5 * MS;
    timed->clock.periods = 3;
    unreadable = 30;
    fake.cpu_of = cpu_of;
    jp_threads_since_sig(90 * MS);
    assert_int_equal(jp_threads_gone_sig(), 0); /* one cannot be read */
    unreadable = 0;
    jp_threads_since_sig((30 + 50 + 70 + 90 + 3 + 2000) * MS);
    fake.cpu_of = cpu_of_none;
    const uint64_t known = 46 * MS + 2000 * MS;

    atomic_store(&jp_process.running, 1);
    fake.process_ns = known + 7 * MS;
    jp_unseen_share_sig();
    assert_int_equal(jp_unseen_left_sig(one), 0); /* no filter forbids timers */
    jp_process_timer_hasten_sig();
    jp_unseen_share_sig();
    assert_int_equal(jp_unseen_left_sig(one), 7 * MS / 2);
    assert_int_equal(jp_unseen_left_sig(other), 7 * MS / 2);
    assert_int_equal(jp_unseen_left_sig(unfound), 0);
    assert_int_equal(jp_unseen_left_sig(timed), 0);
    jp_unseen_share_sig();
    assert_int_equal(jp_unseen_left_sig(one), 0);

    atomic_store(&jp_process.running, 0);
    fake.process_ns += 100 * MS;
    jp_unseen_share_sig();
    assert_int_equal(jp_unseen_left_sig(one), 20 * MS);
    assert_int_equal(jp_unseen_left_sig(one), 0);
    jp_unseen_share_sig(); /* once more, at the end */
    assert_int_equal(jp_unseen_left_sig(other), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_no_clock_shows),
        cmocka_unit_test(is_not_what_was_there_before),
        cmocka_unit_test(is_not_what_cannot_be_read),
        cmocka_unit_test(is_told_without_a_clock),
        cmocka_unit_test(is_not_told_in_a_pause),
        cmocka_unit_test(is_told_by_the_timer_alone),
        cmocka_unit_test(is_shared_where_no_clock_shows_it),
    };

    fake.cpu_of = cpu_of;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
