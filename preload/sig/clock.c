/* SPDX-License-Identifier: MIT
 *
 * Which clock interrupts the threads, and arming it thread by thread.
 * Runs in: handler, any thread. */
#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "adopt.h"
#include "clock_itimer.h"
#include "clock_perf.h"
#include "clock_real.h"
#include "clock_timer.h"
#include "filter.h"
#include "log.h"
#include "process.h"
#include "rtc.h"
#include "slot.h"
#include "sys.h"

#define FIRST_REAL_TIME_SIGNAL 32 /* the kernel's SIGRTMIN, signal(7) */

/* Which signal the clock sends. */
static int choose_signal_sig(void)
{
    if (jp_config.rtc_hz != 0)
        return SIGIO;
    return jp_config.realtime ? SIGALRM : SIGPROF;
}

/* A full queue of a real-time signal given to F_SETSIG degrades to SIGIO,
 * whose default kills. */
static int perf_may_send_sig(int signal)
{
    return signal < FIRST_REAL_TIME_SIGNAL;
}

/* A timer on CPU time interrupts no system call, and is exact up to the
 * kernel's tick; above it there is the perf clock. */
static uint32_t choose_cpu_clock_sig(void)
{
    const uint32_t want = jp_config.clock;
    if (want == JP_WANT_ITIMER && jp_process.signal == SIGPROF) {
        jp_note_sig(JP_NOTE_ITIMER);
        return JP_CLOCK_ITIMER;
    }
    if (want == JP_WANT_PERF ||
        (want == JP_WANT_AUTO && jp_config.period_ns < jp_process.tick_ns)) {
        if (perf_may_send_sig(jp_process.signal) &&
            jp_clock_perf_allowed_sig())
            return JP_CLOCK_PERF;
        jp_note_sig(JP_NOTE_NO_PERF);
    }
    return JP_CLOCK_THREAD_CPU;
}

void jp_clock_choose_sig(void)
{
    jp_process.signal = choose_signal_sig();
    if (jp_config.rtc_hz != 0)
        jp_process.clock =
            jp_rtc_is_open_sig() ? JP_CLOCK_RTC : JP_CLOCK_MONOTONIC;
    else if (jp_config.realtime)
        jp_process.clock = JP_CLOCK_MONOTONIC;
    else
        jp_process.clock = choose_cpu_clock_sig();
}

int jp_clock_is_cpu_sig(void)
{
    return jp_process.clock != JP_CLOCK_RTC &&
           jp_process.clock != JP_CLOCK_MONOTONIC;
}

/* Whether the clock is one for each thread. */
static int is_per_thread_sig(void)
{
    return jp_process.clock != JP_CLOCK_RTC &&
           jp_process.clock != JP_CLOCK_ITIMER;
}

int jp_clock_is_thread_cpu_sig(void)
{
    return jp_clock_is_cpu_sig() && is_per_thread_sig();
}

/* Counts a refusal, once for a thread. */
static int refused_sig(struct jp_slot *slot, uint8_t what, unsigned counter)
{
    if ((slot->refused & what) != 0)
        return 0;
    slot->refused |= what;
    jp_count_sig(counter, 1);
    return 1;
}

/* Says, once, that a timer was refused and nothing is left instead.  Each
 * POSIX timer takes a place in the user's queue of pending signals
 * (RLIMIT_SIGPENDING); EAGAIN is what a full one answers. */
static void complain_sig(int error)
{
    static _Atomic uint32_t said;
    if (jp_filter_number_sig(SYS_timer_create) == 0 &&
        atomic_exchange(&said, 1) == 0)
        jp_complain_sig("a thread goes without samples, the kernel refused "
                        "its timer",
                        NULL, error);
}

/* Returns what the slot is armed with now.  JP_CLOCK_NONE: nothing is left but
 * the process's slow timer. */
static uint32_t make_sig(struct jp_slot *slot)
{
    const uint32_t source = jp_process.clock == JP_CLOCK_MONOTONIC
                                ? JP_CLOCK_MONOTONIC
                                : JP_CLOCK_THREAD_CPU;
    slot->opening = jp_process.clock == JP_CLOCK_PERF;
    const int error = jp_clock_timer_arm_sig(slot, source);
    if (error == 0)
        return source;
    slot->opening = 0;
    /* The thread has ended meanwhile. */
    if (error == -EINVAL)
        return JP_CLOCK_NONE;
    /* The event's signals need no place among the pending ones. */
    if (jp_process.clock == JP_CLOCK_PERF && jp_clock_perf_arm_sig(slot) == 0)
        return JP_CLOCK_PERF;
    if (refused_sig(slot, JP_REFUSED_TIMER,
                    jp_filter_number_sig(SYS_timer_create) != 0
                        ? JP_COUNT_NO_TIMER_FILTER
                        : JP_COUNT_NO_TIMER))
        slot->seen_ns = jp_sys_clock_sig(jp_clock_of_thread_sig(slot->tid));
    if (!jp_adopt_runs_sig())
        complain_sig(-error);
    return JP_CLOCK_NONE;
}

/* With a long period, what it leaves at the end is too much to be dropped: the
 * thread's next sample has it, or what is written at its end. */
static uint64_t rest_sig(struct jp_slot *slot)
{
    if (!jp_budget_exact_sig(&slot->budget) || slot->opening)
        return 0;
    if (slot->source == JP_CLOCK_PERF)
        return jp_clock_perf_rest_sig(slot, JP_CLOCK_REST_NS);
    if (slot->source == JP_CLOCK_THREAD_CPU)
        return jp_clock_timer_overdue_sig(slot, jp_process.tick_ns);
    return 0;
}

void jp_clock_stop_held_sig(struct jp_slot *slot)
{
    const uint64_t rest = rest_sig(slot);
    if (rest != 0)
        atomic_fetch_add(&slot->debt_ns, rest);
    if (slot->source == JP_CLOCK_PERF)
        jp_clock_perf_disarm_sig(slot);
    else if (slot->source != JP_CLOCK_NONE)
        jp_clock_timer_disarm_sig(slot);
    slot->source = JP_CLOCK_NONE;
}

int jp_clock_hold_sig(struct jp_slot *slot)
{
    uint32_t state = JP_SLOT_IDLE;
    if (atomic_compare_exchange_strong(&slot->state, &state, JP_SLOT_ARMING))
        return 1;
    state = JP_SLOT_ARMED;
    return atomic_compare_exchange_strong(&slot->state, &state,
                                          JP_SLOT_ARMING);
}

void jp_clock_release_sig(struct jp_slot *slot)
{
    atomic_store(&slot->state, slot->source != JP_CLOCK_NONE ? JP_SLOT_ARMED
                                                             : JP_SLOT_IDLE);
}

static void arm_sig(struct jp_slot *slot)
{
    uint32_t idle = JP_SLOT_IDLE;
    if (!is_per_thread_sig() ||
        !atomic_compare_exchange_strong(&slot->state, &idle, JP_SLOT_ARMING))
        return;
    if (slot->tid != 0) {
        slot->signal = jp_process.signal;
        slot->source = make_sig(slot);
    }
    jp_clock_release_sig(slot);
}

/* Disarms a slot because the clock moves.  What the perf clock counted since
 * the last sample, or the timer that is to give way to it, is in the next. */
static void leave_slot_sig(struct jp_slot *slot)
{
    uint32_t armed = JP_SLOT_ARMED;
    if (!atomic_compare_exchange_strong(&slot->state, &armed, JP_SLOT_ARMING))
        return;
    const int exact = slot->source == JP_CLOCK_PERF || slot->opening;
    jp_clock_stop_held_sig(slot);
    slot->opening = 0;
    if (exact) {
        const uint64_t cpu =
            jp_sys_clock_sig(jp_clock_of_thread_sig(slot->tid));
        if (cpu > slot->cpu_ns)
            atomic_fetch_add(&slot->debt_ns, cpu - slot->cpu_ns);
        slot->cpu_ns = cpu;
    }
    jp_clock_release_sig(slot);
}

/* The clock has moved while somebody armed the slot (jp_clock_move_sig). */
static void catch_up_sig(struct jp_slot *slot)
{
    if (atomic_load(&slot->state) == JP_SLOT_ARMED &&
        slot->signal != jp_process.signal) {
        leave_slot_sig(slot);
        arm_sig(slot);
    }
}

void jp_clock_arm_sig(struct jp_slot *slot)
{
    arm_sig(slot);
    catch_up_sig(slot);
}

void jp_clock_disarm_sig(struct jp_slot *slot)
{
    uint32_t armed = JP_SLOT_ARMED;
    if (!atomic_compare_exchange_strong(&slot->state, &armed, JP_SLOT_ARMING))
        return;
    jp_clock_stop_held_sig(slot);
    jp_clock_release_sig(slot);
}

/* The thread's first tick comes to it with a probability that grows with its
 * age, until it is sure at the age of a tick.  From then on samples come a
 * period after another, and what is left of a period at the end is not seen.
 * Weighed like this, the first tick makes up for the threads that end before
 * theirs, and the sum is right for threads of every length: with C(s) the whole
 * periods in s, the integral of w(u) + C(T - u) over the ages u up to T must be
 * T ticks, so w(u) = tick - C(u).  (A tick that comes late is worth what the
 * thread did.) */
static uint64_t first_weight_sig(uint64_t age, uint64_t period)
{
    const uint64_t tick = jp_process.tick_ns;
    return age < tick ? tick - age / period * period : age;
}

/* The event cannot be had; the slot's CPU timer takes its place. */
static void fall_back_sig(struct jp_slot *slot)
{
    slot->budget.period_ns = jp_config.period_ns;
    jp_clock_timer_restart_sig(slot);
    refused_sig(slot, JP_REFUSED_PERF,
                jp_filter_number_sig(SYS_perf_event_open) != 0
                    ? JP_COUNT_NO_PERF_FILTER
                    : JP_COUNT_NO_PERF);
}

uint64_t jp_clock_promote_sig(struct jp_slot *slot, uint64_t weight_ns)
{
    uint32_t armed = JP_SLOT_ARMED;
    if (!slot->opening ||
        !atomic_compare_exchange_strong(&slot->state, &armed, JP_SLOT_ARMING))
        return weight_ns;
    slot->opening = 0;
    const uint64_t age =
        jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID) - slot->cpu_ns;
    if (jp_process.clock != JP_CLOCK_PERF) {
        /* It has moved just now, to a signal that is not for it. */
        slot->cpu_ns += age;
    } else if (jp_clock_perf_arm_sig(slot) == 0) {
        jp_clock_timer_disarm_sig(slot);
        slot->source = JP_CLOCK_PERF;
    } else {
        fall_back_sig(slot);
    }
    jp_clock_release_sig(slot);
    catch_up_sig(slot);
    return first_weight_sig(age, slot->budget.period_ns);
}

/* The thread's event could not be made again: it begins as one that has just
 * come. */
static void lose_event_sig(struct jp_slot *slot)
{
    atomic_fetch_add(&slot->debt_ns, jp_clock_perf_rest_sig(slot, 0));
    slot->source = make_sig(slot);
}

void jp_clock_pace_sig(struct jp_slot *slot)
{
    uint32_t armed = JP_SLOT_ARMED;
    if (!atomic_compare_exchange_strong(&slot->state, &armed, JP_SLOT_ARMING))
        return;
    if (slot->source == JP_CLOCK_PERF) {
        if (jp_clock_perf_pace_sig(slot) != 0)
            lose_event_sig(slot);
    } else if (slot->source == JP_CLOCK_MONOTONIC) {
        jp_clock_real_pace_sig(slot);
    } else if (!slot->opening) {
        jp_clock_timer_pace_sig(slot);
    }
    jp_clock_release_sig(slot);
    catch_up_sig(slot);
}

uint64_t jp_clock_debt_sig(struct jp_slot *slot)
{
    return slot->debt_ns != 0 ? atomic_exchange(&slot->debt_ns, 0) : 0;
}

uint64_t jp_clock_unseen_sig(struct jp_slot *slot)
{
    uint64_t debt = jp_clock_debt_sig(slot);
    if ((slot->refused & JP_REFUSED_TIMER) == 0 ||
        !jp_clock_is_thread_cpu_sig())
        return debt;
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    if (cpu > slot->seen_ns)
        debt += cpu - slot->seen_ns;
    slot->seen_ns = cpu;
    /* Perhaps a timer is to be had now. */
    jp_clock_arm_sig(slot);
    if (atomic_load(&slot->state) == JP_SLOT_ARMED)
        slot->refused &= (uint8_t)~JP_REFUSED_TIMER;
    return debt;
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
            jp_clock_stop_held_sig(slot);
        return;
    }
}

/* The log's header says which clock it is. */
static void tell_clock_sig(void)
{
    if (atomic_load(&jp_log.state) == JP_LOG_READY)
        jp_log.header->clock = jp_process.clock;
}

/* The clocks that send a certain signal only give way to timers. */
static void leave_signal_sig(int next)
{
    if (jp_process.clock == JP_CLOCK_RTC) {
        jp_rtc_run_sig(0);
        jp_rtc_close_sig();
        jp_process.clock = JP_CLOCK_MONOTONIC;
    } else if (jp_process.clock == JP_CLOCK_ITIMER) {
        jp_clock_itimer_run_sig(0);
        jp_process.clock = JP_CLOCK_THREAD_CPU;
    } else if (jp_process.clock == JP_CLOCK_PERF && !perf_may_send_sig(next)) {
        jp_note_sig(JP_NOTE_NO_PERF);
        jp_process.clock = JP_CLOCK_THREAD_CPU;
    }
    tell_clock_sig();
}

/* Whether the calling thread may have a perf event, tried out. */
static int may_have_event_sig(void)
{
    const uint32_t tid = jp_sys_gettid_sig();
    struct jp_slot *slot = tid != 0 ? jp_slot_by_tid_sig(tid) : NULL;
    if (slot == NULL || !jp_clock_hold_sig(slot))
        return 1;   /* it will be seen */
    jp_clock_stop_held_sig(slot);
    slot->signal = jp_process.signal;
    const int error = jp_clock_perf_arm_sig(slot);
    if (error == 0)
        jp_clock_perf_disarm_sig(slot);
    jp_clock_release_sig(slot);
    return error == 0;
}

void jp_clock_share_sig(void)
{
    if (!jp_clock_is_thread_cpu_sig() || jp_process.signal != SIGPROF ||
        (jp_process.clock == JP_CLOCK_PERF && may_have_event_sig()))
        return;
    jp_process.clock = JP_CLOCK_ITIMER;
    jp_note_sig(JP_NOTE_SHARED_TIMER);
    tell_clock_sig();
}

/* Sets the process's timer.  If the program takes the signal at this moment,
 * this thread sees that or jp_clock_move_sig sees the timer. */
static void run_shared_sig(void)
{
    jp_clock_itimer_run_sig(1);
    atomic_thread_fence(memory_order_seq_cst);
    if (jp_process.signal != SIGPROF)
        leave_signal_sig(jp_process.signal);
}

void jp_clock_all_sig(int arm)
{
    if (jp_process.clock == JP_CLOCK_RTC)
        jp_rtc_run_sig(arm);
    else if (jp_process.clock == JP_CLOCK_ITIMER && arm)
        run_shared_sig();
    else if (jp_process.clock == JP_CLOCK_ITIMER)
        jp_clock_itimer_run_sig(0);
    uint32_t count = jp_slots_count_sig();
    for (uint32_t i = 0; i < count; i++) {
        if (arm)
            jp_clock_arm_sig(jp_slot_at_sig(i));
        else
            jp_clock_disarm_sig(jp_slot_at_sig(i));
    }
}

static int first_timer = -1;

/* JP_FIRST's timer; after: in ns. */
static void set_first_sig(uint64_t after)
{
    struct sigevent event = {.sigev_signo = jp_process.signal,
                             .sigev_notify = SIGEV_SIGNAL};
    event.sigev_value.sival_ptr =
        (void *)(uintptr_t)(JP_CONTROL_MAGIC | JP_CONTROL_START);
    atomic_store(&jp_process.first_pending, 1);
    first_timer = jp_clock_make_timer_sig(
        jp_clock_is_cpu_sig() ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC,
        &event, after, 0);
    if (first_timer >= 0)
        return;
    jp_count_sig(JP_COUNT_NO_TIMER, 1);
    complain_sig(-first_timer);
}

void jp_clock_first_sig(void)
{
    set_first_sig(jp_config.first_ns);
}

/* JP_FIRST's time goes on under the new signal. */
static void move_first_sig(void)
{
    struct itimerspec left;
    if (first_timer < 0 || !atomic_load(&jp_process.first_pending) ||
        jp_sys_sig(SYS_timer_gettime, first_timer, (long)&left, 0, 0, 0) != 0)
        return;
    uint64_t after =
        (uint64_t)left.it_value.tv_sec * JP_NS + (uint64_t)left.it_value.tv_nsec;
    jp_sys_sig(SYS_timer_delete, first_timer, 0, 0, 0, 0);
    set_first_sig(after != 0 ? after : 1);
}

void jp_clock_move_sig(int signal)
{
    /* Before the signal: who arms a slot with the new one sees the new clock,
     * and who arms it meanwhile with the old one looks at the signal again. */
    leave_signal_sig(signal);
    jp_process.signal = signal;
    atomic_thread_fence(memory_order_seq_cst);
    if (jp_process.clock == JP_CLOCK_ITIMER)
        leave_signal_sig(signal); /* a start has just chosen it */
    move_first_sig();
    jp_adopt_run_sig(0);
    for (uint32_t i = 0, count = jp_slots_count_sig(); i < count; i++)
        leave_slot_sig(jp_slot_at_sig(i));
    if (atomic_load(&jp_process.running)) {
        jp_adopt_run_sig(1);
        jp_clock_all_sig(1);
    }
}
