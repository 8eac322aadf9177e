/* SPDX-License-Identifier: MIT
 *
 * The clock kinds of the process's interval timers, setitimer(2): of CPU time,
 * and of real time where the kernel refuses other timers.  At most one of the
 * two is in use.
 * Runs in: handler, any thread. */
#include "clock_itimer.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "sig/wall/clock_real.h"
#include "clock_timer.h"
#include "sig/timers/timer.h"
#include "jp_log.h"
#include "sig/timers/left.h"
#include "sig/arch/arch.h"
#include "sig/files/notes.h"
#include "sig/os/sys.h"
#include "sig/state/budget.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

static _Atomic uint64_t last_ns; /* the clock's time at the last sample */

static struct jp_budget budget;
static _Atomic uint32_t taken;

static int is_real_sig(void)
{
    return jp_process.clock == &jp_clock_alarm;
}

static int which_sig(void)
{
    return is_real_sig() ? ITIMER_REAL : ITIMER_PROF;
}

/* What the timer counts, in ns: real time, or the process's CPU time. */
static uint64_t time_sig(void)
{
    return jp_sys_clock_sig(is_real_sig() ? CLOCK_MONOTONIC
                                          : CLOCK_PROCESS_CPUTIME_ID);
}

static struct timeval period_sig(uint64_t ns)
{
    return (struct timeval){(time_t)(ns / JP_NS),
                            (suseconds_t)((ns % JP_NS + 999) / 1000)};
}

static int set_sig(uint64_t period_ns)
{
    const struct timeval period = period_sig(period_ns);
    const struct itimerval timer = {period, period};
    const int error =
        (int)jp_sys_sig(SYS_setitimer, which_sig(), (long)&timer, 0, 0, 0);
    if (error != 0)
        jp_count_sig(JP_COUNT_NO_TIMER, 1);
    return error;
}

static int run_sig(int on)
{
    if (on) {
        atomic_store(&last_ns, time_sig());
        if (budget.period_ns == 0)
            jp_budget_begin_sig(&budget);
        atomic_store(&taken, 0);
    }
    return set_sig(on ? budget.period_ns : 0);
}

static struct jp_budget *take_sig(void)
{
    return atomic_exchange(&taken, 1) == 0 ? &budget : NULL;
}

static void give_sig(int changed)
{
    if (changed && jp_process.clock->itimer_signal != 0 &&
        atomic_load(&jp_process.running))
        set_sig(budget.period_ns);
    atomic_store(&taken, 0);
}

/* The kernel's siginfo says no more than SI_KERNEL. */
static int owns_sig(const struct jp_signal *signal)
{
    return signal->info->si_code == SI_KERNEL &&
           signal->number == jp_process.clock->itimer_signal;
}

/* The process's CPU time of ticks that were not delivered.  Up to a tick may be
 * due to the next signal, and is left out. */
static int flush_sig(struct jp_thread *thread, struct jp_due *due)
{
    (void)thread;
    uint64_t before = atomic_load(&last_ns);
    const uint64_t now = jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
    if (now < before + jp_process.tick_ns ||
        !atomic_compare_exchange_strong(&last_ns, &before, now))
        return 0;
    due->cpu = now - before;
    return 1;
}

/* The CPU time of the process since the last signal. */
static enum jp_observed observe_sig(struct jp_pass *pass)
{
    const uint64_t now = jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
    const uint64_t before = atomic_exchange(&last_ns, now);
    pass->due.cpu = now > before ? now - before : 0;
    /* 0: a filter forbids to ask. */
    if (now == 0)
        pass->due.cpu = budget.period_ns;
    return JP_OBSERVED_DUE;
}

/* The real time since the last signal.  It is blocked time if the signal finds
 * the thread in a wait; else the thread ran for as much of it as the CPU time
 * that no sample stands for yet, and waited for a CPU for the rest. */
static enum jp_observed observe_real_sig(struct jp_pass *pass)
{
    const struct jp_signal *signal = &pass->signal;
    struct jp_thread *thread = pass->thread;
    struct jp_due *due = &pass->due;
    const uint64_t before = atomic_exchange(&last_ns, signal->now_ns);
    const uint64_t past = signal->now_ns > before ? signal->now_ns - before : 0;
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t used =
        cpu > thread->clock.cpu_ns ? cpu - thread->clock.cpu_ns : 0;
    if (jp_arch_waited_sig(signal->context,
                           jp_left_wait_sig(signal->context))) {
        due->blocked = past;
        return JP_OBSERVED_DUE;
    }
    due->running = used < past ? used : past;
    due->ready = past - due->running;
    thread->clock.cpu_ns += due->running;
    return JP_OBSERVED_DUE;
}

static int sends_sig(int signal)
{
    return signal == SIGPROF;
}

static int sends_real_sig(int signal)
{
    return signal == SIGALRM;
}

/* Stops the timer, unless the program has set it past the hooks. */
static void give_up_sig(void)
{
    struct itimerval now = {{0, 0}, {0, 0}};
    const struct timeval ours = period_sig(budget.period_ns);
    jp_sys_sig(SYS_getitimer, which_sig(), (long)&now, 0, 0, 0);
    if (now.it_interval.tv_sec == ours.tv_sec &&
        now.it_interval.tv_usec == ours.tv_usec)
        run_sig(0);
}

const struct jp_clock_kind jp_clock_itimer = {
    .id = JP_CLOCK_ITIMER,
    .cpu = 1,
    .outlives_exec = 1,
    .itimer_signal = SIGPROF,
    .note_used = JP_NOTE_ITIMER,
    .sends = sends_sig,
    .give_up = give_up_sig,
    .then = &jp_clock_timer,
    .owns = owns_sig,
    .observe = observe_sig,
    .flush = flush_sig,
    .run = run_sig,
    .take = take_sig,
    .give = give_sig,
};

const struct jp_clock_kind jp_clock_alarm = {
    .id = JP_CLOCK_MONOTONIC,
    .outlives_exec = 1,
    .itimer_signal = SIGALRM,
    .sends = sends_real_sig,
    .give_up = give_up_sig,
    .then = &jp_clock_real,
    .owns = owns_sig,
    .observe = observe_real_sig,
    .run = run_sig,
    .take = take_sig,
    .give = give_sig,
};
