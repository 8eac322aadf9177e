/* SPDX-License-Identifier: MIT
 *
 * POSIX timers, one a thread.
 * Runs in: handler, any thread. */
#include "clock_timer.h"

#include <sys/syscall.h>

#include "clock_real.h"
#include "process.h"
#include "slot.h"
#include "sys.h"

/* The CPU clock of any thread of the process: ~tid in the upper bits, then
 * "per thread" (4) and "scheduler time" (2); Linux posix-timers_types.h. */
clockid_t jp_clock_of_thread_sig(uint32_t tid)
{
    return (clockid_t)(~tid << 3 | 6U);
}

static struct timespec time_sig(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / JP_NS), (long)(ns % JP_NS)};
}

uint64_t jp_clock_random_sig(uint32_t salt, uint64_t most)
{
    uint64_t mixed = jp_sys_clock_sig(CLOCK_MONOTONIC) + salt;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
    return (mixed ^ mixed >> 31) % most + 1;
}

int jp_clock_make_timer_sig(clockid_t clock, struct sigevent *event,
                            uint64_t first, uint64_t period)
{
    int timer = -1;
    const struct itimerspec when = {time_sig(period), time_sig(first)};
    long result = jp_sys_sig(SYS_timer_create, clock, (long)event,
                             (long)&timer, 0, 0);
    if (result != 0)
        return (int)result;
    result = jp_sys_sig(SYS_timer_settime, timer, 0, (long)&when, 0, 0);
    if (result == 0)
        return timer;
    jp_sys_sig(SYS_timer_delete, timer, 0, 0, 0, 0);
    return (int)result;
}

void jp_clock_set_timer_sig(int timer, uint64_t first, uint64_t period)
{
    const struct itimerspec when = {time_sig(period), time_sig(first)};
    jp_sys_sig(SYS_timer_settime, timer, 0, (long)&when, 0, 0);
}

/* When the first period ends, in ns from now: anywhere in it, so that threads
 * which start together are not sampled together.
 *
 * A CPU timer that has run out is noticed at the kernel's next tick, and a
 * thread that has ended by then goes without its sample: of threads that live
 * for less than some ticks, most would.  So the periods begin a tick before
 * the thread does.  Where the first then ends before the thread begins, the
 * timer is set to the first tick that the thread sees, and jp_clock_early_sig
 * says what that is worth.  So every moment of every thread is as likely to be
 * sampled as any other. */
static uint64_t first_sig(struct jp_slot *slot, clockid_t clock)
{
    atomic_store(&slot->early_ns, 0);
    if (clock == CLOCK_MONOTONIC)
        return jp_clock_random_sig(slot->tid, slot->budget.period_ns);
    const uint64_t first =
        jp_clock_random_sig(slot->tid, jp_config.period_ns);
    slot->cpu_ns = jp_sys_clock_sig(clock);
    slot->origin_ns = (int64_t)(first - jp_process.tick_ns);
    slot->ended = 0;
    if (slot->opening)
        return 1;
    if (first > jp_process.tick_ns)
        return first - jp_process.tick_ns;
    atomic_store(&slot->early_ns, first);
    return 1;
}

/* How many periods end from `origin` to `until`, the first at origin. */
static uint64_t ends_sig(int64_t until, int64_t origin)
{
    if (until < origin)
        return 0;
    return (uint64_t)(until - origin) / jp_config.period_ns + 1;
}

/* The periods that have ended since one was last noticed.  Those asked for go
 * on where the timer has a longer one. */
static uint64_t ended_sig(struct jp_slot *slot, uint64_t cpu_ns,
                          uint64_t late_ns)
{
    const uint64_t ended = ends_sig(
        (int64_t)(cpu_ns - slot->cpu_ns - late_ns), slot->origin_ns);
    const uint64_t before = slot->ended;
    if (ended <= before)
        return 0;
    slot->ended = ended;
    return (ended - before) * jp_config.period_ns;
}

/* The tick stands for the periods that ended in the tick before it; where it
 * comes late, for all since the thread was armed. */
uint64_t jp_clock_early_sig(struct jp_slot *slot, uint64_t weight_ns)
{
    const int64_t first = (int64_t)atomic_exchange(&slot->early_ns, 0);
    if (first == 0 && jp_budget_exact_sig(&slot->budget))
        return ended_sig(slot, jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID), 0);
    if (first == 0) {
        atomic_fetch_add_explicit(&slot->ended,
                                  weight_ns / jp_config.period_ns,
                                  memory_order_relaxed);
        return weight_ns;
    }
    const int64_t tick = (int64_t)jp_process.tick_ns, origin = first - tick;
    const int64_t now = (int64_t)(jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID) -
                                  slot->cpu_ns);
    const uint64_t ended = ends_sig(now, origin);
    const uint64_t before = ends_sig(now < tick ? now - tick : 0, origin);
    const uint64_t next = (uint64_t)origin + ended * jp_config.period_ns;
    slot->ended = ended;
    jp_clock_set_timer_sig(slot->timer, next - (uint64_t)now,
                           slot->budget.period_ns);
    return (ended - before) * jp_config.period_ns;
}

int jp_clock_slot_timer_sig(const struct jp_slot *slot, clockid_t clock,
                            uint64_t first, uint64_t period)
{
    struct sigevent event = {.sigev_signo = jp_process.signal,
                             .sigev_notify = SIGEV_THREAD_ID};
    event.sigev_value.sival_ptr = (void *)jp_slot_value_sig(slot);
    event._sigev_un._tid = (pid_t)slot->tid;
    return jp_clock_make_timer_sig(clock, &event, first, period);
}

int jp_clock_timer_arm_sig(struct jp_slot *slot, uint32_t source)
{
    const clockid_t clock = source == JP_CLOCK_THREAD_CPU
                                ? jp_clock_of_thread_sig(slot->tid)
                                : CLOCK_MONOTONIC;
    const uint64_t first = first_sig(slot, clock);
    if (source == JP_CLOCK_MONOTONIC)
        jp_clock_real_begin_sig(slot, first);
    const int timer =
        jp_clock_slot_timer_sig(slot, clock, first, slot->budget.period_ns);
    if (timer < 0)
        return timer;
    slot->timer = timer;
    return 0;
}

static void delete_sig(_Atomic int32_t *timer)
{
    if (*timer >= 0)
        jp_sys_sig(SYS_timer_delete, *timer, 0, 0, 0, 0);
    *timer = -1;
}

void jp_clock_timer_disarm_sig(struct jp_slot *slot)
{
    delete_sig(&slot->timer);
    delete_sig(&slot->waker);
}

uint64_t jp_clock_timer_overdue_sig(struct jp_slot *slot, uint64_t late_ns)
{
    return ended_sig(slot, jp_sys_clock_sig(jp_clock_of_thread_sig(slot->tid)),
                     late_ns);
}

void jp_clock_timer_pace_sig(struct jp_slot *slot)
{
    const uint64_t period = slot->budget.period_ns;
    /* At the end of one of the periods asked for. */
    const uint64_t first = (uint64_t)slot->origin_ns +
                           slot->ended * jp_config.period_ns + period -
                           jp_config.period_ns;
    const uint64_t now =
        jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID) - slot->cpu_ns;
    jp_clock_set_timer_sig(slot->timer, first > now ? first - now : 1, period);
}

void jp_clock_timer_restart_sig(struct jp_slot *slot)
{
    slot->cpu_ns = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    slot->origin_ns = (int64_t)jp_config.period_ns;
    slot->ended = 0;
    jp_clock_set_timer_sig(slot->timer, jp_config.period_ns,
                           jp_config.period_ns);
}

uint64_t jp_clock_weight_sig(int overrun)
{
    uint64_t periods = overrun > 0 ? 1 + (uint64_t)overrun : 1;
    return periods * jp_config.period_ns;
}
