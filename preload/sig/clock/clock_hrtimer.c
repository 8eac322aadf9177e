/* SPDX-License-Identifier: MIT
 *
 * The clock kind of CPU time by one high-resolution timer for each thread.
 * Runs in: handler, any thread, the hooks.
 *
 * A thread's CPU time is cut into strata of one period each.  One moment is
 * drawn at random in each stratum, and the thread is sampled when its CPU clock
 * reaches that moment.  So each moment of CPU time is equally likely to be
 * sampled, whatever the program's rhythm, and each period has one sample.
 *
 * The kernel notices at its ticks only that a timer on a CPU clock has expired:
 * the tick that finds the time due would get everything.  So the timer counts
 * CLOCK_MONOTONIC, and is set to the time at which the moment comes if the
 * thread computes until then.  Where the thread lost its CPU or waited
 * meanwhile, the timer expires early, and is set again for what is missing.
 *
 * A timer that expires while its thread waits makes the thread leave the wait.
 * It is then stopped until the wait is over, and the hook of the call sets it
 * again.  Where the calls of a hook wait for long each time, the hook stops the
 * timer before the call, and no wait is interrupted.  A wait that no hook sees
 * has a timer on the thread's CPU clock instead, which expires at the first
 * tick that finds the thread computing. */
#include "clock_hrtimer.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>

#include "clock_perf.h"
#include "clock_timer.h"
#include "jp_log.h"
#include "sig/arch/arch.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "sig/timers/random.h"
#include "sig/timers/timer.h"
#include "sig/timers/used.h"
#include "sig/wall/account.h"
#include "sig/wall/classify.h"
#include "sig/wall/observe.h"
#include "sig/wall/schedule.h"

/* A sample may be so much CPU time early.  The CPU clock lacks the time of
 * interrupts, so that it is behind the timer most times. */
#define EARLY_NS 20000U

/* How many calls of a hook stop the timer after one that waited until the timer
 * would have expired. */
#define STOPPING_CALLS 4U

/* From so many signals in waits on since the last sample, the thread computes
 * in bursts that are short beside a period.  The timer then expires four times
 * in a period of real time on the average, until a signal finds the thread
 * computing and the stratum's moment passed.  The time to the next expiry is
 * exponentially distributed, so that each place is found alike, however soon
 * the thread comes to it after the timer was set. */
#define SHORT_BURSTS 4U

/* In short bursts, a signal that comes long after the timer's expiry finds the
 * thread where it lost its CPU, as in a system call, and not where it computed.
 * It is no sample, but where the thread has computed for PERIODS_MOST without
 * one.  Long is more than PROMPT_NS and twice the delay of other signals. */
#define PROMPT_NS 20000U
#define PERIODS_MOST 16U

/* The budget grows at early signals as if a part of the real time that has
 * passed were the thread's CPU time. */
#define EARLY_PART 8U

static int has_short_bursts_sig(const struct jp_hrtimer *state)
{
    return state->early >= SHORT_BURSTS;
}

static uint8_t *stopping_sig(struct jp_hrtimer *state)
{
    return &state->stopping[state->call];
}

static uint64_t draw_sig(const struct jp_thread *thread)
{
    const struct jp_cpu_strata *strata = &thread->clock.hrtimer.strata;
    return jp_clock_draw_sig(thread->tid + (uint32_t)strata->end_ns);
}

/* The weight of the strata whose moments have come when the thread has used
 * used_ns since it was armed. */
static uint64_t take_due_sig(struct jp_thread *thread, uint64_t used_ns)
{
    struct jp_cpu_strata *strata = &thread->clock.hrtimer.strata;
    return strata->moment_ns <= used_ns
               ? jp_account_cpu_sig(strata, thread->clock.budget.period_ns,
                                    used_ns, draw_sig(thread))
               : 0;
}

/* Sets the timer to the moment of the stratum. */
static void set_sig(struct jp_thread *thread, uint64_t used_ns)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    uint64_t left = state->strata.moment_ns > used_ns
                        ? state->strata.moment_ns - used_ns
                        : 1;
    if (has_short_bursts_sig(state))
        left = jp_random_exponential_sig(
            jp_clock_random_sig(thread->tid, UINT64_MAX),
            thread->clock.budget.period_ns / 4);
    state->expires_ns = jp_sys_clock_sig(CLOCK_MONOTONIC) + left;
    state->stopped = 0;
    jp_clock_set_timer_sig(thread->clock.timer, left, 0);
}

/* The CPU time that the calling thread has used since it was armed.  Where
 * filters forbid to ask for it: until the moment, unless it waits. */
static uint64_t used_sig(const struct jp_thread *thread, int waits)
{
    const uint64_t cpu = jp_used_cpu_sig();
    const uint64_t moment = thread->clock.hrtimer.strata.moment_ns;
    if (cpu == JP_USED_UNKNOWN)
        return waits && moment > EARLY_NS ? moment - EARLY_NS : moment;
    return jp_used_since_sig(cpu, thread->clock.cpu_ns);
}

static int is_in_hook_sig(const struct jp_hrtimer *state,
                          const ucontext_t *context)
{
    return jp_arch_sp_sig(context) < state->frame;
}

/* Stops the timer of a thread in a wait that no hook sees.  Where the timer on
 * its CPU clock is refused, goes on a period at a time. */
static void wait_unseen_sig(struct jp_thread *thread)
{
    const uint64_t tick = jp_process.tick_ns;
    if (thread->clock.cpu_wakeup >= 0) {
        jp_clock_set_timer_sig(thread->clock.cpu_wakeup, 1, 0);
    } else if (!thread->clock.no_cpu_wakeup) {
        const int timer = jp_clock_thread_timer_sig(
            thread, jp_thread_clock_of_sig(thread->tid), 1, 0);
        thread->clock.no_cpu_wakeup = timer < 0;
        if (timer >= 0)
            thread->clock.cpu_wakeup = timer;
        else
            jp_count_sig(JP_COUNT_NO_WAKER, 1);
    }
    if (!thread->clock.no_cpu_wakeup)
        return;
    thread->clock.hrtimer.stopped = 0;
    jp_clock_set_timer_sig(thread->clock.timer, tick, 0);
}

/* Stops the timer until the wait in which the signal found the thread is over.
 * (It has expired.) */
static void stop_sig(struct jp_thread *thread, int in_hook)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    state->stopped = 1;
    if (in_hook)
        *stopping_sig(state) = STOPPING_CALLS;
    else
        wait_unseen_sig(thread);
}

/* Counts a signal that is a sample, or was early.  waits: it found the thread
 * in a wait.  (A thread that only lacks a CPU has no short bursts.) */
static void count_sig(struct jp_thread *thread, uint64_t now_ns, int waits,
                      struct jp_due *due)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    const uint64_t period = thread->clock.budget.period_ns;
    const uint64_t gap = now_ns - state->fired_ns;
    state->fired_ns = now_ns;
    if (due->cpu != 0) {
        state->early = has_short_bursts_sig(state) ? SHORT_BURSTS - 1 : 0;
        return;
    }
    state->early += waits && state->early < UINT8_MAX;
    due->counted_ns = (gap < period ? gap : period) / EARLY_PART;
}

/* Whether a signal of a thread with short bursts found it where it computed.
 * The delay of a signal is the shortest of the last ones, about. */
static int is_prompt_sig(struct jp_thread *thread, uint64_t now_ns,
                         uint64_t used_ns)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    const uint64_t late =
        now_ns > state->expires_ns ? now_ns - state->expires_ns : 0;
    const uint64_t most = PROMPT_NS + 2 * (uint64_t)state->delay_ns;
    state->delay_ns = late < state->delay_ns
                          ? (uint32_t)late
                          : state->delay_ns + state->delay_ns / 16 + 100;
    return late <= most ||
           used_ns > state->strata.end_ns +
                         PERIODS_MOST * thread->clock.budget.period_ns;
}

static enum jp_observed observe_sig(struct jp_pass *pass)
{
    struct jp_thread *thread = pass->thread;
    struct jp_due *due = &pass->due;
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    const int in_hook = is_in_hook_sig(state, pass->signal.interrupted);
    const struct jp_wall_call call =
        jp_observe_call_sig(pass->signal.interrupted);
    const int waits = jp_classify_in_call_sig(&call, in_hook);
    const uint64_t used = used_sig(thread, waits);
    const int prompt = is_prompt_sig(thread, pass->signal.now_ns, used);
    if (!has_short_bursts_sig(state) || (!waits && prompt))
        due->cpu =
            take_due_sig(thread, used + (waits || !prompt ? 0 : EARLY_NS));
    count_sig(thread, pass->signal.now_ns, waits, due);
    /* (Outside of hooks, a thread that is about to make a system call looks
     * like one that waits in it.  If the timer was early, it was off the
     * CPU.) */
    if (waits && (in_hook || due->cpu == 0))
        stop_sig(thread, in_hook);
    else
        set_sig(thread, used);
    return due->cpu != 0 ? JP_OBSERVED_DUE : JP_OBSERVED_NONE;
}

uint64_t jp_hrtimer_enter_wait_sig(struct jp_thread *thread, uint64_t frame,
                                   uint64_t call)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    const uint64_t outer = state->frame;
    state->call = (uint8_t)(call % JP_HRTIMER_CALLS);
    state->frame = frame;
    atomic_signal_fence(memory_order_seq_cst);
    if (*stopping_sig(state) != 0 && !state->stopped &&
        !has_short_bursts_sig(state) &&
        thread->clock.kind == &jp_clock_hrtimer) {
        /* A signal that comes just before this call sets the timer again, and
         * the call stops it: so it counts as stopped from here on, and not
         * before. */
        jp_clock_set_timer_sig(thread->clock.timer, 0, 0);
        atomic_signal_fence(memory_order_seq_cst);
        state->stopped = 1;
    }
    /* A hook around this one that a jump has left is no longer there. */
    return outer > frame ? outer : 0;
}

void jp_hrtimer_resume_sig(struct jp_thread *thread)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    if (!state->stopped)
        return;
    state->stopped = 0;
    if (thread->clock.kind == &jp_clock_hrtimer)
        set_sig(thread, used_sig(thread, 0));
}

/* (A moment that passed as the thread went to sleep is the wait's, to which the
 * thread goes back, and not the handler's beginning.) */
void jp_hrtimer_before_handler_sig(struct jp_thread *thread)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    const uint64_t period = thread->clock.budget.period_ns;
    if (!state->stopped || thread->clock.kind != &jp_clock_hrtimer)
        return;
    uint64_t used = used_sig(thread, 0);
    if (used + period / 8 > state->strata.moment_ns)
        used = state->strata.moment_ns > period / 8
                   ? state->strata.moment_ns - period / 8
                   : 0;
    set_sig(thread, used);
}

void jp_hrtimer_leave_wait_sig(struct jp_thread *thread, uint64_t outer)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    state->frame = outer;
    atomic_signal_fence(memory_order_seq_cst);
    if (!state->stopped)
        return;
    uint8_t *stopping = stopping_sig(state);
    if (jp_sys_clock_sig(CLOCK_MONOTONIC) >= state->expires_ns)
        *stopping = STOPPING_CALLS;
    else if (*stopping > 0)
        --*stopping;
    jp_hrtimer_resume_sig(thread);
}

/* (Another thread may arm this one, also while it waits.) */
static int arm_sig(struct jp_thread *thread)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    const uint64_t cpu = jp_used_of_sig(thread->tid);
    const int own = cpu == 0 && jp_sys_gettid_sig() == thread->tid;
    const uint64_t usage = own ? jp_used_cpu_sig() : 0;
    thread->clock.cpu_ns = usage != JP_USED_UNKNOWN && own ? usage : cpu;
    state->strata.end_ns = 0;
    jp_schedule_cpu_sig(&state->strata, thread->clock.budget.period_ns,
                        draw_sig(thread));
    state->expires_ns =
        jp_sys_clock_sig(CLOCK_MONOTONIC) + state->strata.moment_ns;
    state->stopped = 0;
    state->early = 0;
    state->fired_ns = 0;
    state->delay_ns = 0;
    /* The first signal may come at once, and sets the timer again: its id is
     * stored before it runs. */
    const int timer = jp_clock_thread_timer_sig(thread, CLOCK_MONOTONIC, 0, 0);
    if (timer < 0)
        return timer;
    thread->clock.timer = timer;
    jp_clock_set_timer_sig(timer, state->strata.moment_ns, 0);
    return 0;
}

/* The next stratum gets the budget's length. */
static int pace_sig(struct jp_thread *thread)
{
    (void)thread;
    return 0;
}

/* The time of strata whose moments came half a period ago or earlier without a
 * signal, which the thread kept back. */
static uint64_t missed_sig(struct jp_thread *thread)
{
    const uint64_t cpu = jp_used_of_sig(thread->tid);
    const uint64_t late = thread->clock.budget.period_ns / 2;
    return cpu > thread->clock.cpu_ns + late
               ? take_due_sig(thread, cpu - thread->clock.cpu_ns - late)
               : 0;
}

static uint64_t untaken_sig(struct jp_thread *thread,
                            const struct jp_signal *signal)
{
    if (thread == NULL)
        return jp_clock_weight_sig(signal->info->si_overrun);
    const uint64_t used = used_sig(thread, 0);
    const uint64_t weight = take_due_sig(thread, used + EARLY_NS);
    set_sig(thread, used);
    return weight;
}

/* The hook of a wait was left by a jump, so that nothing has set the timer
 * again. */
static void recover_sig(struct jp_thread *thread, const ucontext_t *context)
{
    struct jp_hrtimer *state = &thread->clock.hrtimer;
    if (state->stopped && !jp_arch_waited_sig(context, 1))
        jp_hrtimer_resume_sig(thread);
}

/* Without high-resolution timers, a timer expires at a tick.  Where nobody may
 * ask for a thread's CPU time, the time in which it lacks a CPU would count. */
static int allowed_sig(void)
{
    struct timespec resolution = {0, 0};
    if (jp_used_cpu_sig() == JP_USED_UNKNOWN)
        return 0;
    return jp_sys_sig(SYS_clock_getres, CLOCK_MONOTONIC, (long)&resolution, 0,
                      0, 0) != 0 ||
           (resolution.tv_sec == 0 && resolution.tv_nsec <= (long)EARLY_NS);
}

const struct jp_clock_kind jp_clock_hrtimer = {
    .id = JP_CLOCK_HRTIMER,
    .per_thread = 1,
    .cpu = 1,
    .interrupts = 1,
    .call = SYS_timer_create,
    .count_refused = JP_COUNT_NO_TIMER,
    .count_filtered = JP_COUNT_NO_TIMER_FILTER,
    .allowed = allowed_sig,
    .then = &jp_clock_timer,
    .without_timers = &jp_clock_perf,
    .fenced = &jp_clock_timer,
    .owns = jp_clock_timer_owns_sig,
    .find = jp_clock_timer_find_sig,
    .observe = observe_sig,
    .untaken = untaken_sig,
    .arm = arm_sig,
    .disarm = jp_clock_timer_disarm_sig,
    .pace = pace_sig,
    .recover = recover_sig,
    .missed_ticks = missed_sig,
};
