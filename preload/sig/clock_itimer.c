/* SPDX-License-Identifier: MIT
 *
 * The process's profiling timer.
 * Runs in: handler, any thread. */
#include "clock_itimer.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "budget.h"
#include "process.h"
#include "sys.h"

static _Atomic uint64_t cpu_ns; /* of the process, at the last sample */

static struct jp_budget budget;
static _Atomic uint32_t taken;

static void set_sig(uint64_t period_ns)
{
    const struct timeval period = {
        (time_t)(period_ns / JP_NS),
        (suseconds_t)((period_ns % JP_NS + 999) / 1000)};
    const struct itimerval timer = {period, period};
    if (jp_sys_sig(SYS_setitimer, ITIMER_PROF, (long)&timer, 0, 0, 0) != 0)
        jp_count_sig(JP_COUNT_NO_TIMER, 1);
}

void jp_clock_itimer_run_sig(int on)
{
    if (on) {
        atomic_store(&cpu_ns, jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID));
        if (budget.period_ns == 0)
            jp_budget_begin_sig(&budget);
        atomic_store(&taken, 0);
    }
    set_sig(on ? budget.period_ns : 0);
}

struct jp_budget *jp_clock_itimer_take_sig(void)
{
    return atomic_exchange(&taken, 1) == 0 ? &budget : NULL;
}

void jp_clock_itimer_give_sig(int changed)
{
    if (changed && jp_process.clock == JP_CLOCK_ITIMER &&
        atomic_load(&jp_process.running))
        set_sig(budget.period_ns);
    atomic_store(&taken, 0);
}

int jp_clock_itimer_is_sig(int signal, const siginfo_t *info)
{
    return jp_process.clock == JP_CLOCK_ITIMER && signal == SIGPROF &&
           info->si_code == SI_KERNEL;
}

uint64_t jp_clock_itimer_overdue_sig(void)
{
    uint64_t before = atomic_load(&cpu_ns);
    const uint64_t now = jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
    if (now < before + jp_process.tick_ns ||
        !atomic_compare_exchange_strong(&cpu_ns, &before, now))
        return 0;
    return now - before;
}

uint64_t jp_clock_itimer_weight_sig(void)
{
    const uint64_t now = jp_sys_clock_sig(CLOCK_PROCESS_CPUTIME_ID);
    const uint64_t before = atomic_exchange(&cpu_ns, now);
    return now > before ? now - before : 0;
}
