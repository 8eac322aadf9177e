/* SPDX-License-Identifier: MIT
 *
 * Timers of real time that a filter of the program's forbids to set, played
 * through on clocks that a test moves.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>

#include <cmocka.h>

#include "in_range.h"
#include "fake_kernel.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/wall/clock_real.h"
#include "../../preload/sig/os/filter.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define PERIOD (10 * MS)
#define TID 100U

#include "real_time.h"

/* What the kernel answers behind a filter that forbids to set timers. */
static int no_setting(long number, const long a[5], long *result)
{
    (void)a;
    *result = -EPERM;
    return number == SYS_timer_settime || number == SYS_timer_create;
}

/* Sets the timers for the last time, and has a filter forbid to set them. */
static struct jp_filter *fence(struct jp_thread *thread)
{
    static struct sock_filter forbids[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the call's number */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_settime, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct jp_filter *filter = jp_filter_add_sig((uintptr_t)forbids, 4);
    assert_non_null(filter);
    jp_clock_real.fence(thread);
    fake.answers = no_setting;
    return filter;
}

/* Goes on to when the timer runs out for the next time. */
static void run_out(const struct jp_thread *thread)
{
    const struct jp_wall *wall = &thread->clock.wall;
    if (fake.now_ns < wall->stratum.fence_ns)
        fake.now_ns = wall->stratum.fence_ns;
    else
        fake.now_ns += wall->stratum.fence_period_ns -
                       (fake.now_ns - wall->stratum.fence_ns) %
                           wall->stratum.fence_period_ns;
}

/* It blocks and computes in turn: each signal of a timer that goes on by itself
 * is its stratum's moment, and only one that comes late finds it without a
 * CPU. */
static void test_fenced(void **state)
{
    struct jp_due due;
    unsigned ready = 0, late_ones = 0;
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_filter *filter = fence(thread);
    const uint64_t begun = thread->clock.wall.balance.given_ns;
    for (unsigned i = 0; i < 400; i++) {
        run_out(thread);
        fake.cpu_ns += thread->clock.wall.stratum.fence_period_ns / 2;
        fake.switches += 2;
        const int late = i % 8 == 7;
        fake.now_ns += late ? 2 * MS : 0;
        if (!signal_of(thread->clock.timer, thread,
                       i % 2 == 0 ? COMPUTES
                       : late     ? COMPUTES
                                  : IN_CALL,
                       &due))
            continue;
        assert_true(late || due.ready == 0);
        ready += due.ready != 0;
        late_ones += late;
    }
    const uint64_t all = thread->clock.wall.balance.given_ns - begun;
    assert_uint_in_range(late_ones, 35, 50);
    assert_uint_in_range(ready, late_ones - 1, late_ones);
    assert_uint_in_range(sum.running, 45 * all / 100, 55 * all / 100);
    assert_uint_in_range(sum.running + sum.blocked + sum.ready + 4 * PERIOD -
                             (thread->clock.wall.balance.given_ns - begun),
                         0, 8 * PERIOD);
    jp_filter_drop_sig(filter);
    jp_clock_end_sig(thread);
}

/* A thread that waits for 3 ms of each period is found there in three of ten
 * samples. */
static void test_fenced_rhythm(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20; i++) {
        struct jp_due due;
        uint64_t cpu = fake.cpu_ns;
        struct jp_thread *thread = looked_at();
        struct jp_filter *filter = fence(thread);
        const uint64_t begun = fake.now_ns;
        for (unsigned j = 0; j < 2000; j++) {
            run_out(thread);
            fake.cpu_ns = cpu + (fake.now_ns - begun) * 7 / 10;
            fake.switches += 2;
            signal_of(thread->clock.timer, thread,
                      fake.now_ns % PERIOD < 3 * MS ? IN_CALL : COMPUTES, &due);
        }
        const uint64_t all = fake.now_ns - begun;
        assert_uint_in_range(sum.blocked, 27 * all / 100, 33 * all / 100);
        jp_filter_drop_sig(filter);
        jp_clock_end_sig(thread);
        jp_thread_free_sig(thread);
        fake.answers = NULL;
    }
}

/* A long wait behind the filter is looked at seldom, though each signal makes
 * the thread leave its wait and get back into it; and its end is seen. */
static void test_fenced_wait(void **state)
{
    struct jp_due due;
    unsigned signals = 0;
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_filter *filter = fence(thread);
    const uint64_t begun = thread->clock.wall.balance.given_ns;
    fake.switches++;
    memset(&sum, 0, sizeof(sum));
    looks = 0;
    for (; fake.now_ns < begun + 100 * JP_NS; signals++) {
        run_out(thread);
        signal_of(thread->clock.timer, thread, IN_CALL, &due);
        fake.switches++;
        fake.cpu_ns += MS / 50;
    }
    assert_true(signals > 9990 && looks < 100);
    assert_int_equal(sum.running + sum.ready, 0);
    run_out(thread);
    fake.cpu_ns += 2 * MS;
    look(thread, COMPUTES, &due);
    assert_int_equal(due.running, 2 * MS + MS / 50);
    assert_int_equal(all_of(&sum), fake.now_ns - begun);
    assert_uint_in_range(counts[JP_COUNT_LOOKING_NS], (signals - 2) * MS / 50,
                         signals * MS / 50);
    jp_filter_drop_sig(filter);
    jp_clock_end_sig(thread);
}

/* A signal's look at a wait takes a long time now and then, when the machine
 * gives the CPU away: once the wait has lasted long, this is no CPU time of the
 * program's, and the wait goes on. */
static void test_slow_looks(void **state)
{
    struct jp_due due;
    uint64_t late = 0;
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_filter *filter = fence(thread);
    const uint64_t begun = thread->clock.wall.balance.given_ns;
    const int64_t before = thread->clock.wall.balance.remainder_ns;
    fake.switches++;
    memset(&sum, 0, sizeof(sum));
    looks = 0;
    for (unsigned i = 0; fake.now_ns < begun + 100 * JP_NS; i++) {
        const int slow = i % 50 == 0;
        run_out(thread);
        signal_of(thread->clock.timer, thread, IN_CALL, &due);
        fake.switches++;
        fake.cpu_ns += slow ? 2 * MS : MS / 50;
        late += slow && fake.now_ns > begun + 2 * JP_NS ? 2 * MS : 0;
    }
    assert_true(looks < 200);
    assert_int_equal(sum.running + sum.ready, 0);
    assert_true(counts[JP_COUNT_LOOKING_NS] > late);
    assert_uint_in_range(thread->clock.wall.balance.remainder_ns - before, 0,
                         8 * MS);
    jp_filter_drop_sig(filter);
    jp_clock_end_sig(thread);
}

/* The same for getrusage, too: how often a thread blocks is not known. */
static int no_counting(long number, const long a[5], long *result)
{
    return no_setting(number, a, result) || number == SYS_getrusage;
}

/* A long wait that is known by the thread's stack alone: that stays as it is,
 * but for one time.  What the looks take is no CPU time of the program's while
 * no wait was seen to end for a second. */
static void test_wait_by_its_stack(void **state)
{
    struct jp_due due;
    uint64_t stack[32] = {0}, changed = 0;
    unsigned changes = 0, stays = 0, few = 0, signals = 0;
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_filter *filter = fence(thread);
    const uint64_t begun = fake.now_ns;
    fake.answers = no_counting;
    thread->stack.low = found_sp = (uintptr_t)stack;
    thread->stack.high = (uintptr_t)(stack + 32);
    memset(&sum, 0, sizeof(sum));
    looks = 0;
    while (fake.now_ns < begun + 100 * JP_NS) {
        run_out(thread);
        signals++;
        fake.cpu_ns += MS / 50;
        if (changes == 0 && fake.now_ns >= begun + 50 * JP_NS) {
            stack[31]++;
            changes++;
            changed = fake.now_ns;
            few = looks;
        }
        signal_of(thread->clock.timer, thread, IN_CALL, &due);
        const int same_wait = last_look.found.same;
        assert_true(!same_wait || fake.now_ns > changed + JP_NS);
        stays += (unsigned)same_wait;
    }
    assert_true(stays > 9700 && changes == 1);
    assert_true(few < 400 && looks < 800);
    assert_int_equal(sum.running + sum.ready, 0);
    assert_uint_in_range(counts[JP_COUNT_LOOKING_NS], (signals - 4) * MS / 50,
                         signals * MS / 50);
    assert_int_equal(thread->clock.wall.balance.doubt_ns, 0);
    jp_filter_drop_sig(filter);
    jp_clock_end_sig(thread);
}

/* Waits that end twice a second, known by the stack alone: some looks cost more
 * than others, and all of them together what they cost on the average.  So but
 * for the error of that average nothing is the program's. */
static void test_looks_that_differ(void **state)
{
    struct jp_due due;
    uint64_t stack[32] = {0};
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_filter *filter = fence(thread);
    const struct jp_wall *wall = &thread->clock.wall;
    const uint64_t begun = fake.now_ns;
    uint64_t changed = begun + 20 * JP_NS;
    int64_t before = 0;
    fake.answers = no_counting;
    thread->stack.low = found_sp = (uintptr_t)stack;
    thread->stack.high = (uintptr_t)(stack + 32);
    memset(&sum, 0, sizeof(sum));
    for (unsigned i = 0; fake.now_ns < begun + 60 * JP_NS; i++) {
        run_out(thread);
        fake.cpu_ns += i % 2 == 0 ? MS / 25 : 0;
        if (fake.now_ns >= changed) {
            before = stack[31] == 0 ? wall->balance.remainder_ns : before;
            stack[31]++;
            changed += JP_NS / 2;
        }
        signal_of(thread->clock.timer, thread, IN_CALL, &due);
    }
    assert_true(stack[31] > 75);
    /* (Of 80 ms that the looks cost.  50 ms where each look's is taken off.) */
    assert_uint_in_range(sum.running + sum.ready, 0, 25 * MS);
    assert_uint_in_range(wall->balance.remainder_ns - before, 0, 25 * MS);
    jp_filter_drop_sig(filter);
    jp_clock_end_sig(thread);
}

/* Between two of its moments the thread's wait ends and another one begins: the
 * time until then is not all the first wait's. */
static void test_fenced_waits(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_filter *filter = fence(thread);
    const uint64_t begun = thread->clock.wall.balance.given_ns;
    while (fake.now_ns < begun + 20 * JP_NS) {
        run_out(thread);
        signal_of(thread->clock.timer, thread, IN_CALL, &due);
        fake.switches++;
    }
    assert_true(thread->clock.wall.stratum.parked);
    fake.switches++;
    const unsigned before = asked;
    do {
        run_out(thread);
        fake.switches++;
    } while (!signal_of(thread->clock.timer, thread, IN_CALL, &due));
    assert_int_equal(asked, before);
    assert_false(thread->clock.wall.stratum.parked);
    jp_filter_drop_sig(filter);
    jp_clock_end_sig(thread);
}

/* Whether a signal finds the thread in the same wait, after it has blocked
 * `blocks` times, and the handler has run `runs` times in it. */
static int stays(struct jp_thread *thread, unsigned blocks, unsigned runs)
{
    struct jp_due due;
    run_out(thread);
    fake.switches += blocks;
    atomic_fetch_add(&thread->hooks.runs, runs);
    signal_of(thread->clock.timer, thread, IN_CALL, &due);
    return last_look.found.same;
}

/* jprof's own other signals make a thread leave its wait too, and a signal of
 * the process may do so that another thread gets. */
static void test_other_signals(void **state)
{
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_filter *filter = fence(thread);
    for (unsigned i = 0; i < 100; i++)
        stays(thread, 1, 1);
    assert_true(stays(thread, 1, 1));
    assert_true(stays(thread, 2, 2));
    assert_true(stays(thread, 4, 4));
    assert_false(stays(thread, 5, 4));
    for (unsigned i = 0; i < 600; i++)
        stays(thread, 1, 1);
    assert_true(stays(thread, 1, 1));
    assert_false(stays(thread, 2, 1));
    for (unsigned i = 0; i < 600; i++)
        stays(thread, 1, 1);
    atomic_fetch_add(&jp_process.shared, 1);
    assert_true(stays(thread, 2, 1));
    assert_true(stays(thread, 1, 1));
    atomic_fetch_add(&jp_process.shared, 1);
    assert_false(stays(thread, 3, 1));
    jp_filter_drop_sig(filter);
    jp_clock_end_sig(thread);
}

/* Woken while the handler ran for a signal that was no sample, it does not
 * block again: what it computes is no time without a CPU, nor is the wait
 * before. */
static void test_woken_in_the_handler(void **state)
{
    struct jp_due due;
    unsigned runs = 0;
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_filter *filter = fence(thread);
    const uint64_t begun = thread->clock.wall.balance.given_ns;
    const uint64_t period = thread->clock.wall.stratum.fence_period_ns;
    while (fake.now_ns < begun + 20 * JP_NS) {
        run_out(thread);
        signal_of(thread->clock.timer, thread, IN_CALL, &due);
        fake.switches++;
    }
    run_out(thread);
    assert_false(signal_of(thread->clock.timer, thread, IN_CALL, &due));
    memset(&sum, 0, sizeof(sum));
    do {
        runs++;
        run_out(thread);
        fake.cpu_ns += period;
    } while (!signal_of(thread->clock.timer, thread, COMPUTES, &due));
    assert_true(runs > 1);
    assert_int_equal(due.ready, 0);
    assert_uint_in_range(due.running, 1, runs * period);
    jp_filter_drop_sig(filter);
    jp_clock_end_sig(thread);
}

/* The kernel did not take the filter: the timer is set as before. */
static void test_fence_for_nothing(void **state)
{
    struct jp_due due;
    (void)state;
    struct jp_thread *thread = looked_at();
    struct jp_filter *filter = fence(thread);
    jp_filter_drop_sig(filter);
    fake.answers = NULL;
    for (unsigned i = 0; i < 20; i++) {
        fake.now_ns = thread->clock.wall.stratum.moment_ns;
        look(thread, COMPUTES, &due);
        assert_int_equal(fake_timer(thread->clock.timer)->due_ns,
                         thread->clock.wall.stratum.moment_ns);
    }
    assert_int_equal(thread->clock.wall.stratum.fence_ns, 0);
    jp_clock_end_sig(thread);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_fenced),
        TEST(test_fenced_rhythm),
        TEST(test_fenced_wait),
        TEST(test_slow_looks),
        TEST(test_wait_by_its_stack),
        TEST(test_looks_that_differ),
        TEST(test_fenced_waits),
        TEST(test_other_signals),
        TEST(test_woken_in_the_handler),
        TEST(test_fence_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
