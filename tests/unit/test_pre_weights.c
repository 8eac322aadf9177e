/* SPDX-License-Identifier: MIT
 *
 * What a signal of a CPU clock stands for: timers, the perf clock, and the one
 * timer of the process, played through on clocks that a test moves.
 * test_pre_weights_real.c has real time.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <unistd.h>

#include <cmocka.h>

#include "fake_kernel.h"
#include "../../preload/sig/clock/clock.h"
#include "../../preload/sig/clock/clock_itimer.h"
#include "../../preload/sig/clock/clock_perf.h"
#include "../../preload/sig/clock/clock_timer.h"
#include "../../preload/sig/handler.h"
#include "../../preload/sig/state/process.h"
#include "../../preload/sig/state/thread.h"

#define MS 1000000ULL
#define TICK (4 * MS)
#define TID 100U
#define LIVES 40000 /* threads of which a mean is taken */
#define EVENT_FD 700

static struct jp_owner owner;
static uint64_t counts[JP_COUNT_COUNT];
static int refuses_events;
static int events;              /* perf events that are there */
static uint64_t event_ns;       /* the period of the last one */
static struct itimerval shared; /* the process's timer */
static uint64_t seed;

FAKE(void *, jp_sys_map_file_sig, (int fd, uint64_t offset, size_t size))
{
    static uint64_t page[512];
    (void)fd, (void)offset, (void)size;
    events++;
    return page;
}

FAKE(void, jp_sys_unmap_sig, (void *address, size_t size))
{
    (void)address, (void)size;
    events--;
}

void __real_jp_sys_close_sig(int fd);
FAKE(void, jp_sys_close_sig, (int fd))
{
    if (fd < EVENT_FD)
        __real_jp_sys_close_sig(fd);
}

static int answers(long number, const long a[5], long *result)
{
    *result = 0;
    switch (number) {
    case SYS_perf_event_open:
        event_ns = ((const struct perf_event_attr *)a[0])->sample_period;
        *result = refuses_events ? -EACCES : EVENT_FD;
        return 1;
    case SYS_fcntl:
        *result = a[1] == F_DUPFD_CLOEXEC ? EVENT_FD + a[2] : 0;
        return 1;
    case SYS_ioctl:
        return 1;
    case SYS_setitimer:
        shared = *(const struct itimerval *)a[1];
        return 1;
    default:
        return 0;
    }
}

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    memset(counts, 0, sizeof(counts));
    fake.answers = answers;
    fake.now_ns = 1000 * JP_NS;
    fake.cpu_ns = fake.process_ns = JP_NS;
    refuses_events = events = 0;
    seed = 0x9e3779b97f4a7c15ULL;
    jp_process.page_size = 4096;
    jp_process.tick_ns = TICK;
    jp_process.clock = &jp_clock_timer;
    jp_process.signal = SIGPROF;
    jp_config.period_ns = 10 * MS;
    jp_counters_use_sig(counts);
    if (jp_threads_init_sig() != 0)
        return -1;
    jp_threads_reset_sig();
    return 0;
}

/* From 1 to most, the same in each run. */
static uint64_t random_to(uint64_t most)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % most + 1;
}

static struct jp_thread *begin(void)
{
    struct jp_thread *thread = jp_thread_new_sig();
    assert_non_null(thread);
    jp_thread_begin_sig(thread, TID);
    jp_clock_arm_sig(thread);
    assert_non_null(thread->clock.kind);
    return thread;
}

static void end(struct jp_thread *thread)
{
    jp_clock_end_sig(thread);
    jp_thread_free_sig(thread);
}

/* What a signal of the record's clock stands for, now. */
static uint64_t due(struct jp_thread *thread, int overrun)
{
    siginfo_t info = {.si_code = SI_TIMER};
    const struct jp_signal signal = {SIGPROF, &info, NULL, fake.now_ns, NULL};
    struct jp_due weight = {0};
    info.si_overrun = overrun;
    assert_true(jp_clock_due_sig(thread->clock.kind, thread, &signal, &weight));
    assert_int_equal(weight.counted_ns, weight.cpu);
    return weight.cpu;
}

static void run_for(uint64_t ns)
{
    fake.cpu_ns += ns;
    fake.now_ns += ns;
}

/* The thread has come to a tick: its timer's signal, if that has run out. */
static uint64_t tick(struct jp_thread *thread)
{
    struct fake_timer *timer = fake_timer(thread->clock.timer);
    assert_non_null(timer);
    if (timer->due_ns == 0 || fake.cpu_ns < timer->due_ns)
        return 0;
    const uint64_t more = (fake.cpu_ns - timer->due_ns) / timer->period_ns;
    timer->due_ns += (more + 1) * timer->period_ns;
    return due(thread, (int)more);
}

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

/* A record whose first signal, if it was to come early, has come. */
static struct jp_thread *settled(void)
{
    struct jp_thread *thread = begin();
    run_for(TICK);
    tick(thread);
    atomic_store(&thread->clock.first_tick_ns, 0);
    return thread;
}

static void test_overruns(void **state)
{
    (void)state;
    struct jp_thread *thread = settled();
    assert_int_equal(due(thread, 0), 10 * MS);
    assert_int_equal(due(thread, 1), 20 * MS);
    assert_int_equal(due(thread, 7), 80 * MS);
    assert_int_equal(due(thread, -1), 10 * MS);
    end(thread);
}

/* A thread whose first signal is to come early. */
static struct jp_thread *early(void)
{
    for (unsigned i = 0; i < 1000; i++) {
        struct jp_thread *thread = begin();
        if (atomic_load(&thread->clock.first_tick_ns) != 0)
            return thread;
        assert_int_equal(fake_timer(thread->clock.timer)->due_ns - fake.cpu_ns,
                         thread->clock.origin_ns);
        end(thread);
        fake.now_ns += random_to(JP_NS);
    }
    fail_msg("no signal comes early");
    return NULL;
}

/* What that is worth at this age; *first: when the first period ends, since a
 * tick before the thread began. */
static uint64_t first_at(uint64_t age, uint64_t *first)
{
    struct jp_thread *thread = early();
    *first = atomic_load(&thread->clock.first_tick_ns);
    assert_int_equal(thread->clock.origin_ns, *first - TICK);
    run_for(age);
    const uint64_t weight = tick(thread);
    /* From then on, the periods go on where they were. */
    const uint64_t ended = (age + TICK - *first) / (10 * MS) + 1;
    assert_int_equal(fake_timer(thread->clock.timer)->due_ns - fake.cpu_ns,
                     *first + ended * 10 * MS - TICK - age);
    assert_int_equal(thread->clock.periods, ended);
    end(thread);
    return weight;
}

static void test_first_tick(void **state)
{
    uint64_t first;
    unsigned seen = 0;
    (void)state;
    for (unsigned i = 0; i < 300; i++) {
        const uint64_t age = random_to(TICK - 1);
        const uint64_t weight = first_at(age, &first);
        /* It counts where the period ended in the tick before the signal. */
        assert_int_equal(weight, first > age ? 10 * MS : 0);
        seen += weight != 0;
        fake.now_ns += random_to(JP_NS);
    }
    assert_true(seen > 100 && seen < 200);
    /* One that comes late: all periods since the thread began. */
    assert_int_equal(first_at(25 * MS, &first), 20 * MS);
}

/* What a budget's longer period leaves to the clock. */
static void test_longer_period(void **state)
{
    (void)state;
    struct jp_thread *thread = begin();
    atomic_store(&thread->clock.first_tick_ns, 0);
    thread->clock.origin_ns = 3 * (int64_t)MS;
    thread->clock.budget.period_ns = 35 * MS;
    jp_clock_pace_sig(thread);
    /* At the end of one of the periods asked for. */
    assert_int_equal(fake_timer(thread->clock.timer)->due_ns - fake.cpu_ns,
                     28 * MS);
    assert_int_equal(fake_timer(thread->clock.timer)->period_ns, 35 * MS);
    run_for(28 * MS);
    assert_int_equal(tick(thread), 30 * MS); /* at 3, 13, 23 */
    assert_int_equal(tick(thread), 0);
    run_for(MS);
    assert_int_equal(due(thread, 4), 0); /* had been pending */
    run_for(4 * MS);
    assert_int_equal(due(thread, 0), 10 * MS); /* at 33 */
    /* Back to what was asked for; a signal from before is not that long. */
    thread->clock.budget.period_ns = 10 * MS;
    thread->clock.budget.settling = 1;
    jp_clock_pace_sig(thread);
    assert_int_equal(fake_timer(thread->clock.timer)->due_ns - fake.cpu_ns,
                     10 * MS);
    assert_int_equal(due(thread, 0), 0);
    run_for(10 * MS);
    thread->clock.budget.settling = 0;
    assert_int_equal(tick(thread), 10 * MS); /* at 43 */
    assert_int_equal(thread->clock.periods, 5);
    end(thread);
}

/* When the profile stops, what is left of a longer period is in the thread's
 * next sample, once. */
static void test_debt(void **state)
{
    (void)state;
    struct jp_thread *thread = begin();
    atomic_store(&thread->clock.first_tick_ns, 0);
    thread->clock.origin_ns = 3 * (int64_t)MS;
    thread->clock.budget.period_ns = 100 * MS;
    run_for(40 * MS);
    jp_clock_disarm_sig(thread);
    assert_null(thread->clock.kind);
    assert_int_equal(thread->clock.carried_ns, 40 * MS); /* at 3, 13, 23, 33 */
    thread->clock.budget.period_ns = 10 * MS;
    jp_clock_arm_sig(thread);
    atomic_store(&thread->clock.first_tick_ns, 0);
    assert_int_equal(due(thread, 0), 50 * MS);
    assert_int_equal(due(thread, 0), 10 * MS);
    end(thread);
}

/* A signal that finds its thread in the handler. */
static void test_missed(void **state)
{
    ucontext_t context = {0};
    siginfo_t info = {.si_code = SI_TIMER};
    (void)state;
    struct jp_thread *thread = settled();
    const uint64_t ended = thread->clock.periods;
    owner.pid = (uint32_t)getpid();
    jp_owner = &owner;
    atomic_store(&jp_process.running, 1);
    info.si_overrun = 2;
    info.si_value.sival_ptr = (void *)jp_thread_value_sig(thread);
    atomic_store(&thread->busy, 1);
    jp_handler_sig(SIGPROF, &info, &context);
    jp_owner = NULL;
    atomic_store(&thread->busy, 0);
    atomic_store(&jp_process.running, 0);
    assert_int_equal(thread->clock.carried_ns, 30 * MS);
    assert_int_equal(thread->clock.periods, ended + 3);
    assert_int_equal(due(thread, 0), 40 * MS);
    end(thread);
}

/* One that finds no thread at all is lost, with its time. */
static void test_missed_by_all(void **state)
{
    ucontext_t context = {0};
    siginfo_t info = {.si_code = SI_TIMER};
    (void)state;
    struct jp_thread *thread = settled();
    info.si_overrun = 1;
    info.si_value.sival_ptr = (void *)jp_thread_value_sig(thread);
    end(thread);
    owner.pid = (uint32_t)getpid();
    jp_owner = &owner;
    jp_handler_sig(SIGPROF, &info, &context);
    jp_owner = NULL;
    assert_int_equal(counts[JP_COUNT_LOST_STALE], 1);
    assert_int_equal(counts[JP_COUNT_LOST_NS], 20 * MS);
}

/* A thread begins with a timer, whose signal makes the event. */
static struct jp_thread *promoted(uint64_t age, uint64_t *weight)
{
    jp_process.clock = &jp_clock_perf;
    jp_config.period_ns = MS;
    struct jp_thread *thread = begin();
    assert_ptr_equal(thread->clock.kind, &jp_clock_timer);
    assert_int_equal(events, 0);
    run_for(age);
    *weight = tick(thread);
    return thread;
}

static void test_promotion(void **state)
{
    uint64_t weight;
    (void)state;
    struct jp_thread *thread = promoted(5 * MS / 2, &weight);
    assert_ptr_equal(thread->clock.kind, &jp_clock_perf);
    assert_int_equal(events, 1);
    assert_int_equal(event_ns, MS);
    assert_int_equal(thread->clock.timer, -1);
    /* A tick, less the whole periods until then. */
    assert_int_equal(weight, 2 * MS);
    run_for(MS);
    assert_int_equal(due(thread, 0), MS);
    end(thread);
    assert_int_equal(events, 0);
    end(promoted(9 * MS + 7, &weight));
    assert_int_equal(weight, 9 * MS + 7);
}

static void test_promotion_refused(void **state)
{
    uint64_t weight;
    (void)state;
    refuses_events = 1;
    struct jp_thread *thread = promoted(7 * MS / 2, &weight);
    assert_ptr_equal(thread->clock.kind, &jp_clock_timer);
    assert_int_equal(weight, MS);
    assert_int_equal(counts[JP_COUNT_NO_PERF], 1);
    assert_int_equal(fake_timer(thread->clock.timer)->period_ns, MS);
    assert_int_equal(fake_timer(thread->clock.timer)->due_ns - fake.cpu_ns, MS);
    run_for(TICK);
    assert_int_equal(tick(thread), TICK);
    end(thread);
}

/* The clock is taken from a thread between two samples: nothing is lost. */
static void test_perf_debt(void **state)
{
    uint64_t weight;
    (void)state;
    struct jp_thread *thread = promoted(3 * MS, &weight);
    atomic_store(&jp_process.running, 0);
    run_for(MS / 2);
    jp_clock_move_sig(SIGALRM);
    assert_int_equal(thread->clock.carried_ns, MS / 2);
    assert_null(thread->clock.kind);
    jp_clock_arm_sig(thread);
    run_for(TICK);
    assert_int_equal(tick(thread), TICK + MS / 2);
    end(thread);
}

/* Samples a period apart are a period each; the thread's CPU clock is read
 * behind a gap, and at each eighth. */
static void test_perf_gaps(void **state)
{
    uint64_t weight;
    (void)state;
    struct jp_thread *thread = promoted(TICK, &weight);
    for (unsigned i = 0; i < 7; i++) {
        run_for(MS + 1000);
        assert_int_equal(due(thread, 0), MS);
    }
    run_for(MS + 1000);
    assert_int_equal(due(thread, 0), MS + 8000);
    /* Merged by the kernel in one long call. */
    run_for(24 * MS);
    assert_int_equal(due(thread, 0), 24 * MS);
    /* The thread waited most of the time. */
    run_for(MS);
    fake.now_ns += 100 * MS;
    assert_int_equal(due(thread, 0), MS);
    fake.now_ns += 100 * MS;
    assert_int_equal(due(thread, 0), 0);
    /* Not counted by the clock: it is for the next. */
    fake.now_ns += MS;
    assert_int_equal(due(thread, 0), MS);
    fake.now_ns += 2 * MS;
    assert_int_equal(due(thread, 0), 0);
    run_for(2 * MS);
    assert_int_equal(due(thread, 0), MS);
    end(thread);
}

/* A filter forbids to read the clock: each signal is a period. */
static void test_perf_unreadable(void **state)
{
    uint64_t weight;
    (void)state;
    struct jp_thread *thread = promoted(TICK, &weight);
    fake.cpu_ns = 0;
    for (unsigned i = 0; i < 20; i++) {
        fake.now_ns += i % 3 * MS;
        assert_int_equal(due(thread, 0), MS);
    }
    end(thread);
}

/* A longer period, and the first signals behind a change of it. */
static void test_perf_settles(void **state)
{
    uint64_t weight;
    (void)state;
    struct jp_thread *thread = promoted(TICK, &weight);
    thread->clock.budget.period_ns = 8 * MS;
    thread->clock.budget.settling = 1;
    run_for(MS);
    jp_clock_pace_sig(thread);
    assert_int_equal(event_ns, 8 * MS);
    assert_int_equal(events, 1);
    assert_int_equal(due(thread, 0), 0); /* was pending */
    thread->clock.budget.settling = 0;
    run_for(8 * MS);
    assert_int_equal(due(thread, 0), 9 * MS);
    run_for(2 * MS);
    assert_int_equal(due(thread, 0), 2 * MS);
    /* It stops: what is left is the next sample's, from a millisecond on. */
    run_for(MS);
    assert_int_equal(jp_clock_perf.unsampled(thread), 0);
    run_for(MS);
    jp_clock_disarm_sig(thread);
    assert_int_equal(thread->clock.carried_ns, 2 * MS);
    end(thread);
}

/* All threads' CPU time. */
static void test_itimer(void **state)
{
    const struct jp_signal signal = {.number = SIGPROF};
    struct jp_due weight = {0};
    (void)state;
    jp_process.clock = &jp_clock_itimer;
    assert_int_equal(jp_clock_itimer.run(1), 0);
    assert_int_equal(shared.it_value.tv_usec, 10000);
    fake.process_ns += 25 * MS;
    assert_true(jp_clock_due_sig(&jp_clock_itimer, NULL, &signal, &weight));
    assert_int_equal(weight.cpu, 25 * MS);
    assert_true(jp_clock_due_sig(&jp_clock_itimer, NULL, &signal, &weight));
    assert_int_equal(weight.cpu, 0);
    /* Behind a filter that lets nobody ask. */
    const uint64_t now = fake.process_ns;
    fake.process_ns = 0;
    assert_true(jp_clock_due_sig(&jp_clock_itimer, NULL, &signal, &weight));
    assert_int_equal(weight.cpu, 10 * MS);
    /* At the end: ticks that did not come. */
    fake.process_ns = now;
    assert_true(jp_clock_due_sig(&jp_clock_itimer, NULL, &signal, &weight));
    fake.process_ns += TICK - 1;
    assert_false(jp_clock_itimer.flush(NULL, &weight));
    fake.process_ns += 1;
    assert_true(jp_clock_itimer.flush(NULL, &weight));
    assert_int_equal(weight.cpu, TICK);
    assert_false(jp_clock_itimer.flush(NULL, &weight));
    assert_int_equal(jp_clock_itimer.run(0), 0);
    assert_int_equal(shared.it_value.tv_usec, 0);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_timer_means),
        TEST(test_timer_means_below_a_tick),
        TEST(test_perf_means),
        TEST(test_means_without_making),
        TEST(test_overruns),
        TEST(test_first_tick),
        TEST(test_longer_period),
        TEST(test_debt),
        TEST(test_missed),
        TEST(test_missed_by_all),
        TEST(test_promotion),
        TEST(test_promotion_refused),
        TEST(test_perf_debt),
        TEST(test_perf_gaps),
        TEST(test_perf_unreadable),
        TEST(test_perf_settles),
        TEST(test_itimer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
