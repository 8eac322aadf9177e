/* SPDX-License-Identifier: MIT
 *
 * The hrtimer clock in simulated time: random programs that compute in beats,
 * wait and lack a CPU.  Each function gets the CPU time that it used, and no
 * wait is interrupted twice.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "ticked.h"

#include <math.h>

#include "../../preload/sig/arch/arch.h"
#include "../../preload/sig/clock/clock_hrtimer.h"

#define PROGRAMS 10000
#define FUNCTIONS 3
#define CALL 5U

enum wait { NO_WAIT, HOOKED, UNSEEN, WAITS };

/* A thread's beat: CPU time of each function, then a wait, in ns. */
struct program {
    uint64_t work[FUNCTIONS];
    uint64_t wait_ns;
    enum wait wait;
    unsigned starved; /* of 100 beats, so many lose their CPU for a while */
    unsigned jitter;  /* percent by which each time varies */
};

static uint64_t sampled[FUNCTIONS], used[FUNCTIONS];
static unsigned waits, interrupts, samples;
static ucontext_t computing, waiting;
static uint64_t stack[64];

/* The code of a system call that the kernel makes again. */
static void make_contexts(void)
{
#if defined(__x86_64__)
    static const uint8_t call[8192] = {[4096] = 0x0f, [4097] = 0x05};
    waiting.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)&call[4096];
    waiting.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)stack;
    computing.uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)&call[64];
    computing.uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)&stack[32];
#elif defined(__aarch64__)
    static const uint32_t call[2048] = {[1024] = 0xd4000001U};
    waiting.uc_mcontext.pc = (uintptr_t)&call[1024];
    waiting.uc_mcontext.sp = (uintptr_t)stack;
    computing.uc_mcontext.pc = (uintptr_t)&call[64];
    computing.uc_mcontext.sp = (uintptr_t)&stack[32];
#else
#error "a system call's code and registers"
#endif
}

static void set_sp(ucontext_t *context, uintptr_t sp)
{
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
#else
    context->uc_mcontext.sp = sp;
#endif
}

static struct fake_timer *timer_of(struct jp_thread *thread)
{
    return &fake.timers[thread->clock.timer];
}

/* Has the thread's timer expire. */
static uint64_t expire(struct jp_thread *thread, const ucontext_t *context)
{
    siginfo_t info = {.si_code = SI_TIMER};
    const struct jp_signal signal = {.number = SIGPROF,
                                     .info = &info,
                                     .now_ns = fake.now_ns,
                                     .interrupted = context};
    struct jp_due weight = {0};
    if (thread->clock.timer >= 0)
        timer_of(thread)->due_ns = 0;
    if (!take_due(&jp_clock_hrtimer, thread, &signal, &weight))
        return 0;
    samples++;
    return weight.cpu;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The thread computes in a function for so long. */
static void compute(struct jp_thread *thread, unsigned function, uint64_t ns)
{
    used[function] += ns;
    while (ns > 0) {
        const uint64_t due_ns = timer_of(thread)->due_ns;
        uint64_t step = ns;
        if (due_ns != 0)
            step = due_ns > fake.now_ns ? least(ns, due_ns - fake.now_ns) : 0;
        fake.now_ns += step;
        fake.cpu_ns += step;
        ns -= step;
        if (due_ns != 0 && fake.now_ns >= due_ns)
            sampled[function] += expire(thread, &computing);
    }
}

/* A tick finds the thread computing: the timer on its CPU clock expires. */
static void wake_by_tick(struct jp_thread *thread, unsigned function)
{
    const int wakeup = thread->clock.cpu_wakeup;
    if (wakeup < 0 || fake.timers[wakeup].due_ns == 0)
        return;
    fake.timers[wakeup].due_ns = 0;
    sampled[function] += expire(thread, &computing);
}

static void pass_wait(struct jp_thread *thread, const struct program *program,
                      uint64_t ns)
{
    const uint64_t end = fake.now_ns + ns;
    uint64_t outer = 0;
    unsigned interrupted = 0;
    if (program->wait == HOOKED)
        outer = jp_hrtimer_enter_wait_sig(
            thread, (uint64_t)(uintptr_t)&stack[16], CALL);
    while (timer_of(thread)->due_ns != 0 && timer_of(thread)->due_ns <= end) {
        if (timer_of(thread)->due_ns > fake.now_ns)
            fake.now_ns = timer_of(thread)->due_ns;
        sampled[FUNCTIONS - 1] += expire(thread, &waiting);
        interrupted++;
    }
    fake.now_ns = end;
    if (program->wait == HOOKED)
        jp_hrtimer_leave_wait_sig(thread, outer);
    waits++;
    interrupts += interrupted;
    assert_true(interrupted <= 1);
}

static uint64_t vary(const struct program *program, uint64_t ns)
{
    const uint64_t part = ns * program->jitter / 100;
    return part == 0 ? ns : ns - part + random_to(2 * part);
}

static void run(const struct program *program, uint64_t cpu)
{
    struct jp_thread *thread = begin();
    const uint64_t end = fake.cpu_ns + cpu;
    while (fake.cpu_ns < end) {
        for (unsigned i = 0; i < FUNCTIONS; i++) {
            compute(thread, i, vary(program, program->work[i]));
            if (random_to(100) <= program->starved)
                fake.now_ns += random_to(20 * MS);
        }
        if (program->wait != NO_WAIT)
            pass_wait(thread, program, vary(program, program->wait_ns));
        if (program->wait == UNSEEN)
            wake_by_tick(thread, 0);
    }
    jp_clock_end_sig(thread);
    jp_thread_free_sig(thread);
}

static void clear(void)
{
    memset(sampled, 0, sizeof(sampled));
    memset(used, 0, sizeof(used));
    waits = interrupts = samples = 0;
}

/* Each function's time is right within half a percent. */
static void check(const char *what)
{
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const double off = (double)sampled[i] / (double)used[i] - 1;
        if (fabs(off) > 0.005)
            fail_msg("%s: function %u has %+.2f%%", what, i, 100 * off);
    }
}

static struct program draw(enum wait wait)
{
    struct program program = {
        .wait = wait,
        .starved = (unsigned)random_to(20) - 1,
        .jitter = random_to(2) == 1 ? 0 : (unsigned)random_to(50),
        .wait_ns = random_to(20 * MS),
    };
    for (unsigned i = 0; i < FUNCTIONS; i++)
        program.work[i] = random_to(i == 0 ? 6 * MS : 2 * MS);
    return program;
}

static void use(uint64_t period)
{
    jp_process.clock = &jp_clock_hrtimer;
    jp_config.period_ns = period;
    clear();
    make_contexts();
}

static void check_random(enum wait wait, const char *what)
{
    use(4 * MS);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        const struct program program = draw(wait);
        run(&program, 400 * MS);
    }
    check(what);
}

static void test_without_waits(void **state)
{
    (void)state;
    check_random(NO_WAIT, "no waits");
}

/* Where all waits are as long, a few calls tell: then none is interrupted. */
static void test_hooked_waits(void **state)
{
    (void)state;
    check_random(HOOKED, "hooked waits");
    assert_in_range(interrupts, 0, waits / 4);
    use(4 * MS);
    const struct program beat = {
        .work = {MS / 2, MS / 10, MS / 10}, .wait_ns = 5 * MS, .wait = HOOKED};
    run(&beat, 4000 * MS);
    assert_in_range(interrupts, 0, waits / 20);
}

/* Bursts of some 10 us between waits of some 100 us: signals are few, and each
 * function has its time. */
static void test_short_bursts(void **state)
{
    static const uint64_t periods[] = {MS, 4 * MS};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        use(periods[i]);
        const uint64_t begin = fake.now_ns;
        for (unsigned j = 0; j < 200; j++) {
            const struct program program = {
                .work = {random_to(20000), random_to(10000), random_to(10000)},
                .wait_ns = random_to(400000),
                .jitter = 30,
                .wait = HOOKED};
            run(&program, 400 * MS);
        }
        assert_true(interrupts < (fake.now_ns - begin) / periods[i] * 4);
        for (unsigned k = 0; k < FUNCTIONS; k++) {
            const double off = (double)sampled[k] / (double)used[k] - 1;
            if (fabs(off) > 0.03)
                fail_msg("function %u has %+.2f%%", k, 100 * off);
        }
    }
}

/* A thread that loses its CPU in short system calls, as on a busy machine: what
 * expires meanwhile is no sample of them. */
static void test_lost_cpu(void **state)
{
    (void)state;
    use(4 * MS);
    struct jp_thread *thread = begin();
    for (unsigned i = 0; i < 20000; i++) {
        compute(thread, 0, random_to(2 * MS));
        compute(thread, 1, random_to(MS));
        compute(thread, 2, 500);
        fake.now_ns += random_to(2) != 0 ? random_to(9 * MS) : 0;
        compute(thread, 2, 500);
    }
    uint64_t all = 0;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        all += used[i];
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const double off = ((double)sampled[i] - (double)used[i]) / (double)all;
        if (fabs(off) > 0.01)
            fail_msg("function %u of %.3f%% is off by %+.2f points", i,
                     100 * (double)used[i] / (double)all, 100 * off);
    }
    end(thread);
}

/* The samples are as many as the periods, and no wait is interrupted twice.
 * The place of some of them is the tick's. */
static void test_unseen_waits(void **state)
{
    (void)state;
    use(4 * MS);
    for (unsigned i = 0; i < PROGRAMS / 10; i++) {
        const struct program program = draw(UNSEEN);
        run(&program, 400 * MS);
    }
    uint64_t all = 0, got = 0;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        all += used[i];
        got += sampled[i];
    }
    assert_true(fabs((double)got / (double)all - 1) < 0.005);
    assert_true(interrupts <= waits);
}

/* A beat as long as the period in CPU time, with no wait: each place in it is
 * sampled alike. */
static void test_rhythm_of_the_period(void **state)
{
    (void)state;
    use(4 * MS);
    for (unsigned i = 0; i < 20; i++) {
        const struct program program = {.work = {MS * 5 / 2, MS, MS / 2},
                                        .wait_ns = 0};
        const struct program other = {
            .work = {MS * 5 / 2, MS, MS / 2}, .wait_ns = MS, .wait = HOOKED};
        run(&program, 40000 * MS);
        run(&other, 40000 * MS);
    }
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        const double off = (double)sampled[i] / (double)used[i] - 1;
        assert_true(fabs(off) < 0.01);
    }
}

/* Threads of every length have on the average what they used. */
static void test_lengths(void **state)
{
    static const uint64_t lengths[] = {MS / 2, 2 * MS, 5 * MS, 11 * MS};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        use(4 * MS);
        const struct program program = {.work = {lengths[i], 0, 0}};
        for (unsigned j = 0; j < LIVES; j++) {
            fake.now_ns += random_to(JP_NS);
            run(&program, 1);
        }
        assert_true(fabs((double)sampled[0] / (double)used[0] - 1) < 0.03);
    }
}

/* Strata that pass in one long system call are in its sample. */
static void test_long_call(void **state)
{
    (void)state;
    use(4 * MS);
    struct jp_thread *thread = begin();
    fake.now_ns += 1000 * MS;
    fake.cpu_ns += 1000 * MS;
    const uint64_t weight = expire(thread, &computing);
    assert_in_range(weight, 996 * MS, 1004 * MS);
    assert_true(timer_of(thread)->due_ns > fake.now_ns);
    end(thread);
}

/* The thread that has a signal before the next time its timer is set. */
static struct jp_thread *to_signal;

static int signal_before(long number, const long arguments[5], long *result)
{
    static ucontext_t in_hook;
    struct jp_thread *thread = to_signal;
    (void)arguments, (void)result;
    if (number != SYS_timer_settime || thread == NULL)
        return 0;
    to_signal = NULL;
    in_hook = computing;
    set_sp(&in_hook, (uintptr_t)stack);
    expire(thread, &in_hook);
    return 0;
}

/* A signal that comes while a hook is about to stop the timer, or to set it
 * again, leaves the thread a timer that expires. */
static void test_signal_in_hook(void **state)
{
    (void)state;
    use(4 * MS);
    struct jp_thread *thread = begin();
    const uint64_t frame = (uint64_t)(uintptr_t)&stack[16];
    fake.answers = signal_before;
    for (unsigned i = 0; i < 1000; i++) {
        fake.cpu_ns += random_to(MS);
        fake.now_ns += random_to(MS);
        to_signal = random_to(2) != 0 ? thread : NULL;
        const uint64_t outer = jp_hrtimer_enter_wait_sig(thread, frame, CALL);
        if (timer_of(thread)->due_ns != 0 && random_to(2) != 0)
            expire(thread, &waiting);
        fake.now_ns += 20 * MS;
        to_signal = random_to(2) != 0 ? thread : NULL;
        jp_hrtimer_leave_wait_sig(thread, outer);
        assert_true(timer_of(thread)->due_ns != 0);
    }
    to_signal = NULL;
    end(thread);
}

static int expire_at_once(long number, const long arguments[5], long *result)
{
    const struct itimerspec *when = (const struct itimerspec *)arguments[2];
    if (number != SYS_timer_settime ||
        (when->it_value.tv_sec == 0 && when->it_value.tv_nsec == 0))
        return 0;
    fake.answers = NULL;
    *result = fake_set(arguments[0], when);
    fake.timers[arguments[0]].due_ns = 0;
    expire(jp_thread_by_tid_sig(TID), &computing);
    return 1;
}

/* The timer expires before the call that sets it for the first time returns. */
static void test_signal_at_once(void **state)
{
    (void)state;
    use(4 * MS);
    fake.answers = expire_at_once;
    struct jp_thread *thread = begin();
    assert_null(fake.answers);
    assert_true(timer_of(thread)->due_ns != 0);
    end(thread);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_without_waits, set_up),
        cmocka_unit_test_setup(test_hooked_waits, set_up),
        cmocka_unit_test_setup(test_short_bursts, set_up),
        cmocka_unit_test_setup(test_lost_cpu, set_up),
        cmocka_unit_test_setup(test_unseen_waits, set_up),
        cmocka_unit_test_setup(test_rhythm_of_the_period, set_up),
        cmocka_unit_test_setup(test_lengths, set_up),
        cmocka_unit_test_setup(test_long_call, set_up),
        cmocka_unit_test_setup(test_signal_in_hook, set_up),
        cmocka_unit_test_setup(test_signal_at_once, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
