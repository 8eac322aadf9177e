/* SPDX-License-Identifier: MIT
 *
 * Real time, a timer a thread.
 * Runs in: handler.
 *
 * A thread that two samples find in the same call, having done nothing between
 * them, is left alone: the next signal comes in a second, or as soon as the
 * thread has used the CPU for a moment, of which a timer on its CPU clock
 * tells. */
#include "clock_real.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "clock.h"
#include "clock_timer.h"
#include "process.h"
#include "slot.h"
#include "sys.h"

/* How long a blocked thread is left alone. */
#define ALONE_NS JP_NS

/* CPU time that says that a thread runs again.  It must cover the rest of our
 * own handler and the way back into the call. */
#define RUNS_NS 200000U

/* Between two samples of the same call there is this much at most. */
#define SAME_NS 100000U

/* Periods that a signal's own count may lack. */
#define FORGOTTEN 2U

/* A sixteenth of a gap or less is added to the other part. */
#define SMALL 16

/* Our own handler is taken for seven eighths of a gap at most. */
#define OURS_MOST 8

void jp_clock_real_begin_sig(struct jp_slot *slot, uint64_t first_ns)
{
    slot->time_ns = jp_sys_clock_sig(CLOCK_MONOTONIC) + first_ns -
                    slot->budget.period_ns;
    slot->cpu_ns = jp_sys_clock_sig(jp_clock_of_thread_sig(slot->tid));
    slot->due_ns = 0;
    slot->ours_ns = 0;
    slot->alone = slot->was_alone = 0;
    slot->pc = slot->sp = 0;
}

static uint64_t switches_sig(void)
{
    struct rusage usage;
    if (jp_sys_sig(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0) != 0)
        return 0;
    return (uint64_t)usage.ru_nvcsw;
}

/* Whether the thread is still in the call that the last sample found: at the
 * same place, and blocked once since, when it went back into the call.  One
 * that did not block is not waiting: the next signal was there when our handler
 * returned, or others had the CPU. */
static int same_call_sig(struct jp_slot *slot, const ucontext_t *context,
                         uint64_t used)
{
    const uint64_t pc = jp_arch_pc_sig(context), sp = jp_arch_sp_sig(context);
    const uint64_t before = slot->switches;
    const int there = slot->pc == pc && slot->sp == sp;
    slot->pc = pc;
    slot->sp = sp;
    slot->switches = switches_sig();
    return there && used <= SAME_NS && slot->switches - before == 1;
}

/* What the thread used of a gap, had our handler not taken a part of it. */
static int64_t share_sig(const struct jp_slot *slot, uint64_t used,
                         uint64_t gap)
{
    uint64_t ours = slot->ours_ns;
    if (ours > gap - gap / OURS_MOST)
        ours = gap - gap / OURS_MOST;
    if (ours == 0 || used >= gap)
        return (int64_t)used;
    return (int64_t)((double)used * (double)gap / (double)(gap - ours));
}

/* At the full rate a sample is of one kind, so that weights stay whole
 * periods; what it leaves of the other is due with the next.  woken: the
 * thread was left alone and runs again. */
static void divide_sig(struct jp_slot *slot, uint64_t gap, int woken,
                       struct jp_real *real)
{
    const int64_t all = (int64_t)gap;
    int64_t running = slot->due_ns;
    if (!slot->alone)
        running = running * 2 >= all ? all : 0;
    else if (running < 0 || (!woken && running * SMALL < all))
        running = 0;
    else if ((all - running) * SMALL < all)
        running = all;
    slot->due_ns -= running;
    real->running_ns = (uint64_t)running;
    real->blocked_ns = gap - (uint64_t)running;
}

/* What of a gap the handler's budget grows with.  A thread that blocked had
 * time left over; all of those together have as much as one would.  One that
 * did not was kept waiting for the CPU, and our handler keeps it longer. */
static uint64_t counted_sig(const struct jp_slot *slot, uint64_t used,
                            uint64_t gap, uint64_t switches)
{
    const uint64_t threads = jp_slots_taken_sig();
    const uint64_t part = threads > 1 ? gap / threads : gap;
    return slot->switches == switches || used > part ? used : part;
}

int jp_clock_real_sig(struct jp_slot *slot, const siginfo_t *info,
                      const ucontext_t *context, struct jp_real *real)
{
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t used = cpu - slot->cpu_ns;
    const uint64_t before = slot->switches;
    const int woken = info->si_timerid != slot->timer;
    const uint64_t nested = jp_clock_debt_sig(slot);
    uint64_t gap = jp_clock_weight_sig(info->si_overrun) + nested;
    /* One that was on its way when the thread was no longer left alone. */
    if (woken && !slot->alone)
        return 0;
    /* A timer that was set anew while the thread waited for a CPU has forgotten
     * its overruns. */
    const uint64_t since = now > slot->time_ns ? now - slot->time_ns : 0;
    if (slot->alone || jp_budget_exact_sig(&slot->budget) ||
        since > gap + FORGOTTEN * jp_config.period_ns)
        gap = since;
    slot->time_ns += gap;
    slot->due_ns += share_sig(slot, used, gap);
    slot->cpu_ns = cpu;
    real->before = slot->alone && woken;
    divide_sig(slot, gap, woken, real);
    slot->was_alone = slot->alone;
    slot->alone = same_call_sig(slot, context, used) &&
                  !woken && real->running_ns == 0 &&
                  jp_config.period_ns < ALONE_NS;
    real->counted_ns = counted_sig(slot, used, gap, before);
    /* Also with nothing to give: the timers must go with `alone`. */
    return 1;
}

int jp_clock_real_rest_sig(struct jp_slot *slot, struct jp_real *real)
{
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t cpu = jp_sys_clock_sig(jp_clock_of_thread_sig(slot->tid));
    if ((!slot->alone && !jp_budget_exact_sig(&slot->budget)) ||
        now <= slot->time_ns + (slot->alone ? 0 : JP_CLOCK_REST_NS))
        return 0;
    uint64_t ran = cpu > slot->cpu_ns ? cpu - slot->cpu_ns : 0;
    const uint64_t gap = now - slot->time_ns;
    if (ran > gap)
        ran = gap;
    *real = (struct jp_real){ran, gap - ran, 1, 0};
    slot->time_ns = now;
    slot->alone = slot->was_alone = 0;
    return 1;
}

/* Makes, when it is first wanted, the timer that tells of CPU time. */
static int has_waker_sig(struct jp_slot *slot)
{
    if (slot->waker >= 0)
        return 1;
    const int timer = jp_clock_slot_timer_sig(
        slot, jp_clock_of_thread_sig(slot->tid), RUNS_NS, 0);
    if (timer >= 0)
        slot->waker = timer;
    else if (!slot->no_waker)
        jp_count_sig(JP_COUNT_NO_WAKER, 1);
    slot->no_waker = timer < 0;
    return timer >= 0;
}

void jp_clock_real_done_sig(struct jp_slot *slot)
{
    if (slot->alone && !has_waker_sig(slot))
        slot->alone = slot->was_alone;
    if (slot->alone)
        jp_clock_set_timer_sig(slot->waker, RUNS_NS, 0);
    if (slot->alone && !slot->was_alone) {
        jp_clock_set_timer_sig(slot->timer, ALONE_NS, ALONE_NS);
    } else if (!slot->alone && slot->was_alone) {
        jp_clock_set_timer_sig(slot->timer, slot->budget.period_ns,
                               slot->budget.period_ns);
        jp_clock_set_timer_sig(slot->waker, 0, 0);
    }
    slot->was_alone = slot->alone;
    /* What our own handler used is not the thread's. */
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    slot->ours_ns = cpu - slot->cpu_ns;
    slot->cpu_ns = cpu;
}
