/* SPDX-License-Identifier: MIT
 *
 * The clock kind that counts CPU time by one timer for each thread, which
 * expires at the kernel's ticks.
 * Runs in: handler, any thread. */
#include "clock_timer.h"

#include <sys/syscall.h>

#include "jp_log.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "sig/timers/left.h"
#include "sig/timers/timer.h"
#include "sig/timers/used.h"

/* When the thread's timer is to run out first, in ns from now.
 *
 * The end of the first period is drawn at random, so that threads which start
 * together are not sampled together.  The kernel notices at its next tick that
 * a CPU timer has run out, and a thread that has ended by then goes without
 * its sample, as most threads would that live for less than some ticks.  So
 * the thread's periods begin a tick before the thread.  If the first period
 * ends before the thread begins, the timer is set to the first tick that the
 * thread sees, and weigh_sig says what that tick stands for.  So every moment
 * of every thread is equally likely to be sampled. */
static uint64_t first_sig(struct jp_thread *thread, clockid_t clock)
{
    atomic_store(&thread->clock.first_tick_ns, 0);
    const uint64_t first =
        jp_clock_random_sig(thread->tid, jp_config.period_ns);
    thread->clock.cpu_ns = jp_sys_clock_sig(clock);
    thread->clock.origin_ns = (int64_t)(first - jp_process.tick_ns);
    thread->clock.periods = 0;
    if (thread->clock.gives_way)
        return 1;
    if (first > jp_process.tick_ns)
        return first - jp_process.tick_ns;
    atomic_store(&thread->clock.first_tick_ns, first);
    return 1;
}

/* How many periods end from `origin`, where the first does, to `until`. */
static uint64_t ends_sig(int64_t until, int64_t origin)
{
    if (until < origin)
        return 0;
    return (uint64_t)(until - origin) / jp_config.period_ns + 1;
}

/* The time of the periods that ended, up to late_ns ago, since periods were
 * last counted.  Periods of the length asked for go on, also while the timer
 * has a longer one. */
static uint64_t ended_sig(struct jp_thread *thread, uint64_t cpu_ns,
                          uint64_t late_ns)
{
    const uint64_t ended =
        ends_sig((int64_t)(cpu_ns - thread->clock.cpu_ns - late_ns),
                 thread->clock.origin_ns);
    const uint64_t before = thread->clock.periods;
    if (ended <= before)
        return 0;
    thread->clock.periods = ended;
    return (ended - before) * jp_config.period_ns;
}

/* The weight of a signal.  weight_ns, which its overrun count says, is right
 * but for three cases.  A thread's first signal may have been set to its first
 * tick: it stands for the periods that ended in the tick before, or, if it
 * comes late, for all since the thread was armed.  With a lengthened period,
 * the periods asked for that have ended are counted; and so they are after
 * jp_clock_skip_sig, as the signal may have been sent before.  Where a filter
 * forbids to read the clock, the overrun count alone says how many periods
 * ended. */
static uint64_t weigh_sig(struct jp_thread *thread, uint64_t weight_ns)
{
    const int64_t first =
        (int64_t)atomic_exchange(&thread->clock.first_tick_ns, 0);
    const int exact =
        jp_budget_exact_sig(&thread->clock.budget) || thread->clock.skipped;
    thread->clock.skipped = 0;
    const uint64_t cpu =
        first != 0 || exact ? jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID) : 0;
    if (cpu == 0) {
        const uint64_t asked = jp_config.period_ns;
        const uint64_t weight =
            weight_ns / asked *
            (exact ? thread->clock.budget.period_ns : asked);
        atomic_fetch_add_explicit(&thread->clock.periods, weight / asked,
                                  memory_order_relaxed);
        return weight;
    }
    if (first == 0)
        return ended_sig(thread, cpu, 0);
    const int64_t tick = (int64_t)jp_process.tick_ns, origin = first - tick;
    const int64_t now = (int64_t)(cpu - thread->clock.cpu_ns);
    const uint64_t ended = ends_sig(now, origin);
    const uint64_t before = ends_sig(now < tick ? now - tick : 0, origin);
    const uint64_t next = (uint64_t)origin + ended * jp_config.period_ns;
    thread->clock.periods = ended;
    jp_clock_set_timer_sig(thread->clock.timer, next - (uint64_t)now,
                           thread->clock.budget.period_ns);
    return (ended - before) * jp_config.period_ns;
}

static int arm_sig(struct jp_thread *thread)
{
    const clockid_t clock = jp_thread_clock_of_sig(thread->tid);
    const uint64_t first = first_sig(thread, clock);
    const int timer = jp_clock_thread_timer_sig(thread, clock, first,
                                                thread->clock.budget.period_ns);
    if (timer < 0)
        return timer;
    thread->clock.timer = timer;
    return 0;
}

/* The time of periods that ended more than a tick ago without a signal: a busy
 * virtual machine does not deliver every tick.  They are counted now. */
static uint64_t unsampled_sig(struct jp_thread *thread)
{
    return ended_sig(thread, jp_used_of_sig(thread->tid), jp_process.tick_ns);
}

/* How long ago a period ended whose signal is missing, at least.  A thread that
 * computes without a pause sees each tick, and the first one stands for as much
 * too much, on the average, as is left behind the last.  One that waits often
 * sees ticks at random, at any time after the last one, so that more is left.
 * With ticks as units it is min(t, L) behind the last one, t being distributed
 * exponentially, and 1 - t before the first one that comes within a tick: on
 * the average 1 - exp(-L) and 1/e, which are equal for L = 0.459.  (Of another
 * thread the number of waits cannot be asked for: it computes if its clock goes
 * on while this thread pauses or ends the profile.) */
static uint64_t late_sig(const struct jp_thread *thread, uint64_t cpu_ns)
{
    const uint64_t tick = jp_process.tick_ns, often = tick * 459 / 1000;
    uint64_t held;
    if (jp_sys_gettid_sig() != thread->tid)
        return jp_used_of_sig(thread->tid) != cpu_ns ? tick : often;
    const uint64_t waits = jp_left_switches_sig(&held);
    return waits != JP_LEFT_UNKNOWN && waits > cpu_ns / tick ? often : tick;
}

/* The time of periods that ended without a signal, when the clock stops.  Where
 * no tick has ever found the thread, its periods begin with it. */
static uint64_t missed_ticks_sig(struct jp_thread *thread)
{
    const uint64_t cpu = jp_used_of_sig(thread->tid);
    const uint64_t before = ends_sig(0, thread->clock.origin_ns);
    if (atomic_load(&thread->clock.first_tick_ns) != 0 &&
        thread->clock.periods < before)
        thread->clock.periods = before;
    return ended_sig(thread, cpu, late_sig(thread, cpu));
}

static int pace_sig(struct jp_thread *thread)
{
    const uint64_t period = thread->clock.budget.period_ns;
    /* The timer runs out at the end of one of the periods asked for. */
    const uint64_t first = (uint64_t)thread->clock.origin_ns +
                           thread->clock.periods * jp_config.period_ns +
                           period - jp_config.period_ns;
    const uint64_t now =
        jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID) - thread->clock.cpu_ns;
    jp_clock_set_timer_sig(thread->clock.timer, first > now ? first - now : 1,
                           period);
    return 0;
}

static void restart_sig(struct jp_thread *thread)
{
    thread->clock.cpu_ns = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    thread->clock.origin_ns = (int64_t)jp_config.period_ns;
    thread->clock.periods = 0;
    jp_clock_set_timer_sig(thread->clock.timer, jp_config.period_ns,
                           jp_config.period_ns);
}

static uint64_t untaken_sig(struct jp_thread *thread,
                            const struct jp_signal *signal)
{
    const uint64_t weight = jp_clock_weight_sig(signal->info->si_overrun);
    return thread != NULL ? weigh_sig(thread, weight) : weight;
}

static enum jp_observed observe_sig(struct jp_pass *pass)
{
    pass->due.cpu = untaken_sig(pass->thread, &pass->signal);
    return JP_OBSERVED_DUE;
}

const struct jp_clock_kind jp_clock_timer = {
    .id = JP_CLOCK_THREAD_CPU,
    .per_thread = 1,
    .cpu = 1,
    .call = SYS_timer_create,
    .count_refused = JP_COUNT_NO_TIMER,
    .count_filtered = JP_COUNT_NO_TIMER_FILTER,
    .restart = restart_sig,
    .owns = jp_clock_timer_owns_sig,
    .find = jp_clock_timer_find_sig,
    .observe = observe_sig,
    .untaken = untaken_sig,
    .arm = arm_sig,
    .disarm = jp_clock_timer_disarm_sig,
    .pace = pace_sig,
    .unsampled = unsampled_sig,
    .missed_ticks = missed_ticks_sig,
};
