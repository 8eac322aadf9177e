/* SPDX-License-Identifier: MIT
 *
 * POSIX timers, one a thread, that signal their own thread
 * (SIGEV_THREAD_ID, timer_create(2)).
 * Runs in: handler, any thread. */
#include "clock.h"

#include <signal.h>
#include <sys/syscall.h>

#include "process.h"
#include "rtc.h"
#include "slot.h"
#include "sys.h"

/* The CPU clock of any thread of the process: ~tid in the upper bits, then
 * "per thread" (4) and "scheduler time" (2); Linux posix-timers_types.h. */
static clockid_t thread_clock_sig(uint32_t tid)
{
    return (clockid_t)(~tid << 3 | 6U);
}

void jp_clock_choose_sig(void)
{
    jp_process.clock = JP_CLOCK_THREAD_CPU;
    jp_process.signal = SIGPROF;
    if (jp_config.rtc_hz != 0) {
        jp_process.clock =
            jp_rtc_is_open_sig() ? JP_CLOCK_RTC : JP_CLOCK_MONOTONIC;
        jp_process.signal = SIGIO;
    } else if (jp_config.realtime) {
        jp_process.clock = JP_CLOCK_MONOTONIC;
        jp_process.signal = SIGALRM;
    }
}

static struct timespec time_sig(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / JP_NS), (long)(ns % JP_NS)};
}

/* A number from 1 to `most`, another each time. */
static uint64_t random_sig(uint32_t salt, uint64_t most)
{
    uint64_t mixed = jp_sys_clock_sig(CLOCK_MONOTONIC) + salt;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
    return (mixed ^ mixed >> 31) % most + 1;
}

static int make_sig(clockid_t clock, struct sigevent *event, uint64_t first,
                    uint64_t period)
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

/* Each POSIX timer takes a place in the user's queue of pending signals
 * (RLIMIT_SIGPENDING); EAGAIN is what a full one answers. */
static void refused_sig(int error)
{
    static _Atomic uint32_t said;
    jp_count_sig(JP_COUNT_NO_TIMER, 1);
    if (atomic_exchange(&said, 1) == 0)
        jp_complain_sig("a thread goes without samples, the kernel refused "
                        "its timer",
                        NULL, error);
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
    uint64_t first = random_sig(slot->tid, jp_config.period_ns);
    atomic_store(&slot->early_ns, 0);
    if (jp_process.clock != JP_CLOCK_THREAD_CPU)
        return first;
    if (first > jp_process.tick_ns)
        return first - jp_process.tick_ns;
    slot->cpu_ns = jp_sys_clock_sig(clock);
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

/* The tick stands for the periods that ended in the tick before it; where it
 * comes late, for all since the thread was armed. */
uint64_t jp_clock_early_sig(struct jp_slot *slot, uint64_t weight_ns)
{
    const int64_t first = (int64_t)atomic_exchange(&slot->early_ns, 0);
    if (first == 0)
        return weight_ns;
    const int64_t tick = (int64_t)jp_process.tick_ns, origin = first - tick;
    const int64_t now = (int64_t)(jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID) -
                                  slot->cpu_ns);
    const uint64_t ended = ends_sig(now, origin);
    const uint64_t before = ends_sig(now < tick ? now - tick : 0, origin);
    const uint64_t next = (uint64_t)origin + ended * jp_config.period_ns;
    const struct itimerspec when = {time_sig(jp_config.period_ns),
                                    time_sig(next - (uint64_t)now)};
    jp_sys_sig(SYS_timer_settime, slot->timer, 0, (long)&when, 0, 0);
    return (ended - before) * jp_config.period_ns;
}

void jp_clock_arm_sig(struct jp_slot *slot)
{
    uint32_t idle = JP_SLOT_IDLE;
    if (jp_process.clock == JP_CLOCK_RTC)
        return;
    if (!atomic_compare_exchange_strong(&slot->state, &idle, JP_SLOT_ARMING))
        return;
    struct sigevent event = {.sigev_signo = jp_process.signal,
                             .sigev_notify = SIGEV_THREAD_ID};
    event.sigev_value.sival_ptr = (void *)jp_slot_value_sig(slot);
    event._sigev_un._tid = (pid_t)slot->tid;
    clockid_t clock = jp_process.clock == JP_CLOCK_THREAD_CPU
                          ? thread_clock_sig(slot->tid)
                          : CLOCK_MONOTONIC;
    int timer = make_sig(clock, &event, first_sig(slot, clock),
                         jp_config.period_ns);
    if (timer < 0) {
        refused_sig(-timer);
        atomic_store(&slot->state, JP_SLOT_IDLE);
        return;
    }
    slot->timer = timer;
    atomic_store(&slot->state, JP_SLOT_ARMED);
}

static void delete_sig(struct jp_slot *slot)
{
    jp_sys_sig(SYS_timer_delete, slot->timer, 0, 0, 0, 0);
    slot->timer = -1;
}

void jp_clock_disarm_sig(struct jp_slot *slot)
{
    uint32_t armed = JP_SLOT_ARMED;
    if (!atomic_compare_exchange_strong(&slot->state, &armed, JP_SLOT_ARMING))
        return;
    delete_sig(slot);
    atomic_store(&slot->state, JP_SLOT_IDLE);
}

void jp_clock_end_sig(struct jp_slot *slot)
{
    for (;;) {
        uint32_t state = atomic_load(&slot->state);
        if (state == JP_SLOT_ARMING) {
            /* Another thread is at it, in a bounded step of its own. */
            jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
            continue;
        }
        if (!atomic_compare_exchange_strong(&slot->state, &state,
                                            JP_SLOT_ENDING))
            continue;
        if (state == JP_SLOT_ARMED)
            delete_sig(slot);
        return;
    }
}

void jp_clock_all_sig(int arm)
{
    uint32_t count = jp_slots_count_sig();
    for (uint32_t i = 0; i < count; i++) {
        if (arm)
            jp_clock_arm_sig(jp_slot_at_sig(i));
        else
            jp_clock_disarm_sig(jp_slot_at_sig(i));
    }
    if (jp_process.clock == JP_CLOCK_RTC)
        jp_rtc_run_sig(arm);
}

void jp_clock_first_sig(void)
{
    struct sigevent event = {.sigev_signo = jp_process.signal,
                             .sigev_notify = SIGEV_SIGNAL};
    event.sigev_value.sival_ptr =
        (void *)(uintptr_t)(JP_CONTROL_MAGIC | JP_CONTROL_START);
    int real = jp_process.clock != JP_CLOCK_THREAD_CPU;
    atomic_store(&jp_process.first_pending, 1);
    int timer = make_sig(real ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID,
                         &event, jp_config.first_ns, 0);
    if (timer < 0)
        refused_sig(-timer);
}

uint64_t jp_clock_weight_sig(int overrun)
{
    uint64_t periods = overrun > 0 ? 1 + (uint64_t)overrun : 1;
    return periods * jp_config.period_ns;
}
