/* SPDX-License-Identifier: MIT
 *
 * Choosing the clock that interrupts the threads, and arming each thread.
 * Runs in: handler, any thread. */
#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#include "clock_hrtimer.h"
#include "clock_itimer.h"
#include "clock_perf.h"
#include "sig/wall/clock_real.h"
#include "clock_timer.h"
#include "first.h"
#include "sig/timers/timer.h"
#include "process_timer.h"
#include "refusal.h"
#include "rtc.h"
#include "sig/files/notes.h"
#include "sig/log/log.h"
#include "sig/os/filter.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "sig/timers/used.h"

/* The rows of all kinds. */
static const struct jp_clock_kind *const kinds[] = {
    &jp_clock_timer,  &jp_clock_real,  &jp_clock_rtc,     &jp_clock_perf,
    &jp_clock_itimer, &jp_clock_alarm, &jp_clock_hrtimer,
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* The signal that the clock sends, by the flags. */
static int choose_signal_sig(void)
{
    if (jp_config.rtc_hz != 0)
        return SIGIO;
    return jp_config.realtime ? SIGALRM : SIGPROF;
}

static int may_send_sig(const struct jp_clock_kind *kind, int signal)
{
    return kind->sends == NULL || kind->sends(signal);
}

static void note_sig(uint32_t note)
{
    if (note != 0)
        jp_note_sig(note);
}

/* JP_CLOCK's choice.  By default the hrtimer clock, which is right for programs
 * that compute in beats, reaches any rate and needs no privilege. */
static const struct jp_clock_kind *choose_cpu_clock_sig(void)
{
    const struct jp_clock_kind *kind = &jp_clock_hrtimer;
    for (unsigned i = 0; i < KINDS; i++) {
        if (kinds[i]->id == jp_config.clock)
            kind = kinds[i];
    }
    if (may_send_sig(kind, jp_process.signal) &&
        (kind->allowed == NULL || kind->allowed())) {
        note_sig(kind->note_used);
        return kind;
    }
    note_sig(kind->note_refused);
    return kind->then;
}

void jp_clock_choose_sig(void)
{
    jp_process.signal = choose_signal_sig();
    if (jp_config.rtc_hz != 0)
        jp_process.clock =
            jp_rtc_is_open_sig() ? &jp_clock_rtc : &jp_clock_real;
    else if (jp_config.realtime)
        jp_process.clock = &jp_clock_real;
    else
        jp_process.clock = choose_cpu_clock_sig();
}

int jp_clock_is_thread_cpu_sig(void)
{
    return jp_process.clock->cpu && jp_process.clock->per_thread;
}

enum jp_event jp_clock_event_sig(void)
{
    return jp_process.clock->sees_waits ? JP_EVENT_WALL_RUNNING : JP_EVENT_CPU;
}

const struct jp_clock_kind *jp_clock_of_sig(const struct jp_signal *signal)
{
    /* Three kinds have timers: the signal is of the one in use. */
    const struct jp_clock_kind *now = jp_process.clock;
    if (now->owns != NULL && now->owns(signal))
        return now;
    for (unsigned i = 0; i < KINDS; i++) {
        if (kinds[i]->owns(signal))
            return kinds[i];
    }
    return NULL;
}

int jp_clock_is_value_sig(const siginfo_t *info)
{
    const struct jp_signal signal = {.info = info};
    for (unsigned i = 0; i < KINDS; i++) {
        if (kinds[i]->per_thread && kinds[i]->owns(&signal))
            return 1;
    }
    return 0;
}

/* Counts the refusal of a clock once for each thread. */
static void refused_sig(struct jp_thread *thread, uint8_t what,
                        const struct jp_clock_kind *kind)
{
    if ((thread->clock.refused & what) != 0)
        return;
    thread->clock.refused |= what;
    jp_count_sig(jp_filter_number_sig(kind->call) != 0 ? kind->count_filtered
                                                       : kind->count_refused,
                 1);
}

/* Makes the thread's clock.  Returns what the thread is armed with now; NULL:
 * nothing, so that only the process's slow timer samples it. */
static const struct jp_clock_kind *make_sig(struct jp_thread *thread)
{
    const struct jp_clock_kind *kind = jp_process.clock;
    const struct jp_clock_kind *first =
        kind->begins_with != NULL ? kind->begins_with : kind;
    thread->clock.gives_way = first != kind;
    const int error = first->arm(thread);
    if (error == 0) {
        thread->clock.refused &= (uint8_t)~JP_REFUSED_FIRST;
        return first;
    }
    thread->clock.gives_way = 0;
    /* The thread has ended meanwhile. */
    if (error == -EINVAL)
        return NULL;
    /* What refuses one clock may leave the other: the signals of a perf event
     * need no place among the pending ones. */
    if (first != kind && kind->arm(thread) == 0)
        return kind;
    refused_sig(thread, JP_REFUSED_FIRST, first);
    /* What it uses while the profile is paused is not to be sampled. */
    jp_used_unseen_sig(thread, jp_used_of_sig(thread->tid));
    if (!jp_process_timer_runs_sig())
        jp_clock_complain_sig(-error);
    return NULL;
}

/* The CPU time for which a signal is missing when the clock stops: the thread's
 * next sample stands for it as well, or the one written at the end of the
 * thread or of the profile.  With a lengthened period it is that since the last
 * sample. */
static uint64_t unsampled_sig(struct jp_thread *thread)
{
    const struct jp_clock_kind *source = thread->clock.kind;
    if (source == NULL)
        return 0;
    /* The first tick, after which another clock goes on, has not come: other
     * threads' first ticks stand for less than a tick of this one.  After more,
     * it was kept back. */
    if (thread->clock.gives_way)
        return jp_used_unsampled_sig(thread, jp_used_of_sig(thread->tid),
                                     2 * jp_process.tick_ns);
    if (source->unsampled != NULL && jp_budget_exact_sig(&thread->clock.budget))
        return source->unsampled(thread);
    return source->missed_ticks != NULL ? source->missed_ticks(thread) : 0;
}

void jp_clock_stop_held_sig(struct jp_thread *thread)
{
    const uint64_t unsampled = unsampled_sig(thread);
    if (unsampled != 0)
        atomic_fetch_add(&thread->clock.carried_ns, unsampled);
    if (thread->clock.kind != NULL)
        thread->clock.kind->disarm(thread);
    thread->clock.kind = NULL;
}

int jp_clock_hold_sig(struct jp_thread *thread)
{
    uint32_t state = JP_THREAD_IDLE;
    if (atomic_compare_exchange_strong(&thread->state, &state,
                                       JP_THREAD_ARMING))
        return 1;
    state = JP_THREAD_ARMED;
    return atomic_compare_exchange_strong(&thread->state, &state,
                                          JP_THREAD_ARMING);
}

void jp_clock_release_sig(struct jp_thread *thread)
{
    atomic_store(&thread->state,
                 thread->clock.kind != NULL ? JP_THREAD_ARMED : JP_THREAD_IDLE);
}

static void arm_sig(struct jp_thread *thread)
{
    uint32_t idle = JP_THREAD_IDLE;
    if (!jp_process.clock->per_thread ||
        !atomic_compare_exchange_strong(&thread->state, &idle,
                                        JP_THREAD_ARMING))
        return;
    if (thread->tid != 0) {
        thread->clock.signal = jp_process.signal;
        thread->clock.kind = make_sig(thread);
    }
    jp_clock_release_sig(thread);
}

/* Has the thread's next sample stand for its CPU time since the last one. */
static void carry_sig(struct jp_thread *thread)
{
    atomic_fetch_add(
        &thread->clock.carried_ns,
        jp_used_unsampled_sig(thread, jp_used_of_sig(thread->tid), 1));
}

/* Disarms a thread because the clock moves to another signal.  What an exact
 * clock, or the timer that begins for it, counted since the last sample is in
 * the next one. */
static void leave_thread_sig(struct jp_thread *thread)
{
    uint32_t armed = JP_THREAD_ARMED;
    if (!atomic_compare_exchange_strong(&thread->state, &armed,
                                        JP_THREAD_ARMING))
        return;
    const int exact =
        (thread->clock.kind != NULL && thread->clock.kind->exact) ||
        thread->clock.gives_way;
    jp_clock_stop_held_sig(thread);
    thread->clock.gives_way = 0;
    if (exact)
        carry_sig(thread);
    jp_clock_release_sig(thread);
}

/* Arms the thread again if the clock moved while it was being armed
 * (jp_clock_move_sig). */
static void catch_up_sig(struct jp_thread *thread)
{
    if (atomic_load(&thread->state) == JP_THREAD_ARMED &&
        thread->clock.signal != jp_process.signal) {
        leave_thread_sig(thread);
        arm_sig(thread);
    }
}

void jp_clock_arm_sig(struct jp_thread *thread)
{
    arm_sig(thread);
    catch_up_sig(thread);
}

void jp_clock_disarm_sig(struct jp_thread *thread)
{
    uint32_t armed = JP_THREAD_ARMED;
    if (!atomic_compare_exchange_strong(&thread->state, &armed,
                                        JP_THREAD_ARMING))
        return;
    jp_clock_stop_held_sig(thread);
    jp_clock_release_sig(thread);
}

/* The weight of the first tick of a thread whose clock, here the perf clock,
 * begins with a timer.  The probability that the
 * tick has come grows with the thread's age and is 1 at the age of a tick.
 * From the first tick on, samples come one period after another, and the rest
 * of a period at the thread's end is not seen.  With this weight, the first
 * tick makes up for threads that end before theirs, and the expected sum is
 * right for threads of every length: with C(s) the whole periods in s, the
 * integral of w(u) + C(T - u) over the ages u up to T must be T ticks, so w(u)
 * = tick - C(u).  (Where a tick is no whole number of periods, a longer thread
 * may have up to a part of a period more or less.  A late tick stands for all
 * that the thread did.) */
static uint64_t first_weight_sig(uint64_t age, uint64_t period)
{
    const uint64_t tick = jp_process.tick_ns;
    return age < tick ? tick - age / period * period : age;
}

/* The kernel refuses the clock `kind`: the thread keeps its first one. */
static void keep_first_clock_sig(struct jp_thread *thread,
                                 const struct jp_clock_kind *kind)
{
    thread->clock.budget.period_ns = jp_config.period_ns;
    kind->begins_with->restart(thread);
    refused_sig(thread, JP_REFUSED_LATER, kind);
}

/* Replaces the clock that the calling thread began with, and that has run out,
 * by the process's.  (Begun by a timer, threads that live for less than a tick,
 * or only wait, cost no perf event.)  Returns the signal's weight: that of a
 * first tick, or weight_ns where nothing was to be replaced. */
static uint64_t replace_first_clock_sig(struct jp_thread *thread,
                                        uint64_t weight_ns)
{
    uint32_t armed = JP_THREAD_ARMED;
    if (!thread->clock.gives_way ||
        !atomic_compare_exchange_strong(&thread->state, &armed,
                                        JP_THREAD_ARMING))
        return weight_ns;
    thread->clock.gives_way = 0;
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t age =
        cpu > thread->clock.cpu_ns ? cpu - thread->clock.cpu_ns : 0;
    const struct jp_clock_kind *now = jp_process.clock;
    if (now->begins_with == NULL) {
        /* The process's clock has just moved to a signal that it cannot
         * send, and another is the process's now. */
        thread->clock.cpu_ns += age;
    } else if (now->arm(thread) == 0) {
        now->begins_with->disarm(thread);
        thread->clock.kind = now;
    } else {
        keep_first_clock_sig(thread, now);
    }
    jp_clock_release_sig(thread);
    catch_up_sig(thread);
    return first_weight_sig(age, thread->clock.budget.period_ns);
}

/* The clock could not be made again with another period: arms the thread
 * as if it had just begun. */
static void begin_again_sig(struct jp_thread *thread)
{
    carry_sig(thread);
    thread->clock.kind = make_sig(thread);
}

/* Sets the clock of an armed thread anew, as if it had used skipped_ns less. */
static void pace_sig(struct jp_thread *thread, uint64_t skipped_ns)
{
    uint32_t armed = JP_THREAD_ARMED;
    if (!atomic_compare_exchange_strong(&thread->state, &armed,
                                        JP_THREAD_ARMING))
        return;
    thread->clock.cpu_ns += skipped_ns;
    if (skipped_ns != 0)
        thread->clock.skipped = 1;
    if (!thread->clock.gives_way && thread->clock.kind->pace(thread) != 0)
        begin_again_sig(thread);
    jp_clock_release_sig(thread);
    catch_up_sig(thread);
}

void jp_clock_pace_sig(struct jp_thread *thread)
{
    pace_sig(thread, 0);
}

void jp_clock_skip_sig(struct jp_thread *thread, uint64_t ns)
{
    pace_sig(thread, ns);
}

void jp_clock_account_sig(const struct jp_clock_kind *kind,
                          struct jp_pass *pass)
{
    struct jp_due *due = &pass->due;
    if (kind->account != NULL)
        kind->account(pass);
    if (!kind->cpu || !kind->per_thread)
        return;
    due->cpu = replace_first_clock_sig(pass->thread, due->cpu) +
               jp_clock_take_carried_sig(pass->thread);
    due->counted_ns = due->cpu;
}

uint64_t jp_clock_take_carried_sig(struct jp_thread *thread)
{
    return thread->clock.carried_ns != 0
               ? atomic_exchange(&thread->clock.carried_ns, 0)
               : 0;
}

void jp_clock_end_sig(struct jp_thread *thread)
{
    for (;;) {
        uint32_t state = atomic_load(&thread->state);
        if (state == JP_THREAD_ARMING) {
            /* Another thread arms or disarms it, in a bounded step. */
            jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
            continue;
        }
        if (!atomic_compare_exchange_strong(&thread->state, &state,
                                            JP_THREAD_ENDING))
            continue;
        if (state == JP_THREAD_ARMED)
            jp_clock_stop_held_sig(thread);
        return;
    }
}

/* Writes the clock's id into the log's header. */
static void tell_clock_sig(void)
{
    if (atomic_load(&jp_log.state) == JP_LOG_READY)
        jp_log.header->clock = jp_process.clock->id;
}

/* Has a clock that cannot send the signal `next` give way to another. */
static void leave_signal_sig(int next)
{
    const struct jp_clock_kind *kind = jp_process.clock;
    if (!may_send_sig(kind, next)) {
        note_sig(kind->note_refused);
        if (kind->give_up != NULL)
            kind->give_up();
        jp_process.clock = kind->then;
    }
    tell_clock_sig();
}

/* Tries out whether the calling thread may have the clock. */
static int try_arm_sig(void)
{
    const uint32_t tid = jp_sys_gettid_sig();
    struct jp_thread *thread = tid != 0 ? jp_thread_by_tid_sig(tid) : NULL;
    if (thread == NULL || !jp_clock_hold_sig(thread))
        return 1; /* not known: a refusal will show later */
    jp_clock_stop_held_sig(thread);
    thread->clock.signal = jp_process.signal;
    const int error = jp_process.clock->arm(thread);
    if (error == 0)
        jp_process.clock->disarm(thread);
    jp_clock_release_sig(thread);
    return error == 0;
}

/* The clock that needs no POSIX timer, for rates above the kernel tick's; NULL:
 * there is none, or the process may not have it. */
static const struct jp_clock_kind *
without_timers_sig(const struct jp_clock_kind *kind)
{
    const struct jp_clock_kind *other = kind->without_timers;
    return other != NULL && jp_config.period_ns < jp_process.tick_ns &&
                   may_send_sig(other, jp_process.signal) &&
                   (other->allowed == NULL || other->allowed())
               ? other
               : NULL;
}

static void leave_timers_sig(void)
{
    const struct jp_clock_kind *other = without_timers_sig(jp_process.clock);
    if (other == NULL)
        return;
    jp_process.clock = other;
    tell_clock_sig();
}

void jp_clock_fall_back_to_itimer_sig(void)
{
    leave_timers_sig();
    const struct jp_clock_kind *now = jp_process.clock;
    const int real = now == &jp_clock_real;
    const struct jp_clock_kind *other =
        real ? &jp_clock_alarm : &jp_clock_itimer;
    if ((!real && !jp_clock_is_thread_cpu_sig()) ||
        !may_send_sig(other, jp_process.signal) ||
        (now->begins_with != NULL && try_arm_sig()))
        return;
    jp_process.clock = other;
    jp_note_sig(real ? JP_NOTE_SHARED_REAL : JP_NOTE_SHARED_TIMER);
    tell_clock_sig();
    /* Its signal does not tell its thread, and a filter forbids to ask. */
    if (jp_sys_gettid_sig() == 0)
        jp_clock_complain_sig(EPERM);
}

/* Starts a clock of the whole process.  If the program takes the clock's signal
 * at this moment, either this thread sees the new signal or jp_clock_move_sig
 * sees the timer. */
static void run_shared_sig(const struct jp_clock_kind *kind)
{
    const int error = kind->run(1);
    if (error != 0)
        jp_clock_complain_sig(-error);
    atomic_thread_fence(memory_order_seq_cst);
    leave_signal_sig(jp_process.signal);
}

/* Has the clock of a thread that the caller holds go on by itself. */
static void fence_sig(struct jp_thread *thread)
{
    const struct jp_clock_kind *kind = thread->clock.kind;
    if (kind->fenced == NULL) {
        kind->fence(thread);
        return;
    }
    const struct jp_clock_kind *next = jp_process.clock;
    jp_clock_stop_held_sig(thread);
    if (next->arm(thread) != 0) {
        next = kind->fenced;
        next = next->arm(thread) == 0 ? next : NULL;
    }
    thread->clock.kind = next;
}

void jp_clock_fence_sig(void)
{
    const struct jp_clock_kind *kind = jp_process.clock;
    const uint32_t count = jp_threads_used_sig();
    if (kind->fence == NULL && kind->fenced == NULL)
        return;
    if (kind->fenced != NULL) {
        const struct jp_clock_kind *other = without_timers_sig(kind);
        jp_process.clock = other != NULL ? other : kind->fenced;
        tell_clock_sig();
    }
    for (uint32_t i = 0; i < count; i++) {
        struct jp_thread *thread = jp_thread_at_sig(i);
        if (atomic_load(&thread->state) != JP_THREAD_ARMED ||
            !jp_clock_hold_sig(thread))
            continue;
        if (thread->clock.kind == kind)
            fence_sig(thread);
        jp_clock_release_sig(thread);
    }
}

void jp_clock_recover_sig(struct jp_thread *thread, const ucontext_t *context)
{
    const struct jp_clock_kind *kind = thread->clock.kind;
    if (kind != NULL && kind->recover != NULL)
        kind->recover(thread, context);
}

void jp_clock_all_sig(int arm)
{
    const struct jp_clock_kind *kind = jp_process.clock;
    if (kind->run != NULL && arm)
        run_shared_sig(kind);
    else if (kind->run != NULL)
        kind->run(0);
    uint32_t count = jp_threads_used_sig();
    for (uint32_t i = 0; i < count; i++) {
        if (arm)
            jp_clock_arm_sig(jp_thread_at_sig(i));
        else
            jp_clock_disarm_sig(jp_thread_at_sig(i));
    }
}

/* Arms all threads for a new signal.  (One that was refused a clock is left to
 * the process's slow timer, which knows what it has used since it was last
 * found, and then has it try again.) */
static void rearm_sig(void)
{
    const struct jp_clock_kind *kind = jp_process.clock;
    if (kind->run != NULL)
        run_shared_sig(kind);
    for (uint32_t i = 0, count = jp_threads_used_sig(); i < count; i++) {
        struct jp_thread *thread = jp_thread_at_sig(i);
        if ((thread->clock.refused & JP_REFUSED_FIRST) == 0)
            jp_clock_arm_sig(thread);
    }
}

void jp_clock_move_sig(int signal)
{
    /* The clock changes before the signal does: whoever arms a thread with the
     * new signal sees the new clock, and whoever arms one with the old signal
     * looks at the signal again (catch_up_sig). */
    leave_signal_sig(signal);
    jp_process.signal = signal;
    atomic_thread_fence(memory_order_seq_cst);
    leave_signal_sig(signal); /* a start may just have changed the clock */
    jp_first_move_sig();
    jp_process_timer_run_sig(0);
    for (uint32_t i = 0, count = jp_threads_used_sig(); i < count; i++)
        leave_thread_sig(jp_thread_at_sig(i));
    if (atomic_load(&jp_process.running)) {
        jp_process_timer_run_sig(1);
        rearm_sig();
    }
}
