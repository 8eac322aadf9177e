/* SPDX-License-Identifier: MIT
 *
 * What a signal of a CPU clock stands for: timers, the perf clock, and the one
 * timer of the process, played through on clocks that a test moves.
 * test_pre_weights_real.c has real time.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "ticked.h"
#include "../../preload/sig/sampling.h"

static struct jp_owner owner;

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

/* One of a record that was taken away from its thread, whose own record's clock
 * counts the time. */
static void test_retired(void **state)
{
    ucontext_t context = {0};
    siginfo_t info = {.si_code = SI_TIMER};
    (void)state;
    struct jp_thread *thread = settled();
    owner.pid = (uint32_t)getpid();
    jp_owner = &owner;
    info.si_overrun = 1;
    info.si_value.sival_ptr = (void *)jp_thread_value_sig(thread);
    jp_thread_retire_sig(thread);
    atomic_store(&thread->busy, 1); /* what is taken now is carried on */
    jp_handler_sig(SIGPROF, &info, &context);
    jp_owner = NULL;
    atomic_store(&thread->busy, 0);
    assert_int_equal(thread->clock.carried_ns, 0);
    assert_int_equal(counts[JP_COUNT_LOST_STALE], 0);
    /* Nor is what has been carried written at the end. */
    atomic_store(&thread->clock.carried_ns, MS);
    jp_sampling_flush_time_sig(thread);
    assert_int_equal(thread->clock.carried_ns, MS);
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

/* Signals that the thread kept back to its end: as many periods as ended.  One
 * that is a little late is not missing. */
static void test_perf_withheld(void **state)
{
    uint64_t weight;
    (void)state;
    struct jp_thread *thread = promoted(TICK, &weight);
    run_for(7 * MS / 2);
    assert_int_equal(jp_clock_perf.missed_ticks(thread), 3 * MS);
    assert_int_equal(jp_clock_perf.missed_ticks(thread), 0);
    run_for(4 * MS / 5);
    assert_int_equal(jp_clock_perf.missed_ticks(thread), 0);
    run_for(MS / 5);
    jp_clock_disarm_sig(thread);
    assert_int_equal(thread->clock.carried_ns, MS);
    end(thread);
    fake.cpu_ns = 0;
    assert_int_equal(jp_clock_perf.missed_ticks(thread), 0);
}

/* A signal in whose handler the thread lost its CPU, while the profile was
 * paused and started: it is no sample, and the first one after it none of
 * thousands of seconds. */
static void test_perf_started_anew(void **state)
{
    const siginfo_t info = {.si_code = POLL_IN};
    const struct jp_signal signal = {.number = SIGPROF, .info = &info};
    struct jp_due due = {0};
    uint64_t weight;
    (void)state;
    struct jp_thread *thread = promoted(TICK, &weight);
    jp_clock_disarm_sig(thread);
    jp_clock_arm_sig(thread);
    const uint64_t armed = thread->clock.cpu_ns;
    assert_int_equal(take_due(&jp_clock_perf, thread, &signal, &due), 0);
    assert_int_equal(due.cpu, 0);
    assert_int_equal(thread->clock.cpu_ns, armed);
    thread->clock.cpu_ns += MS; /* it got as far as that */
    assert_true(tick(thread) <= TICK);
    end(thread);
}

/* Not even the first tick was let in. */
static void test_perf_never_begun(void **state)
{
    (void)state;
    jp_process.clock = &jp_clock_perf;
    jp_config.period_ns = MS;
    for (unsigned ticks = 1; ticks <= 3; ticks++) {
        struct jp_thread *thread = begin();
        run_for(ticks * TICK);
        if (ticks < 3)
            jp_clock_disarm_sig(thread);
        else
            jp_clock_move_sig(SIGALRM);
        assert_int_equal(thread->clock.carried_ns,
                         ticks > 1 ? ticks * TICK : 0);
        end(thread);
    }
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
    assert_true(take_due(&jp_clock_itimer, NULL, &signal, &weight));
    assert_int_equal(weight.cpu, 25 * MS);
    assert_true(take_due(&jp_clock_itimer, NULL, &signal, &weight));
    assert_int_equal(weight.cpu, 0);
    /* Behind a filter that lets nobody ask. */
    const uint64_t now = fake.process_ns;
    fake.process_ns = 0;
    assert_true(take_due(&jp_clock_itimer, NULL, &signal, &weight));
    assert_int_equal(weight.cpu, 10 * MS);
    /* At the end: ticks that did not come. */
    fake.process_ns = now;
    assert_true(take_due(&jp_clock_itimer, NULL, &signal, &weight));
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
        TEST(test_overruns),
        TEST(test_first_tick),
        TEST(test_longer_period),
        TEST(test_debt),
        TEST(test_missed),
        TEST(test_missed_by_all),
        TEST(test_retired),
        TEST(test_promotion),
        TEST(test_promotion_refused),
        TEST(test_perf_debt),
        TEST(test_perf_gaps),
        TEST(test_perf_unreadable),
        TEST(test_perf_started_anew),
        TEST(test_perf_settles),
        TEST(test_perf_withheld),
        TEST(test_perf_never_begun),
        TEST(test_itimer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
