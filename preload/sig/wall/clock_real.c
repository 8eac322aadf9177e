/* SPDX-License-Identifier: MIT
 *
 * The clock kind of real time, with one timer for each thread: has the stages
 * observe, classify, account and schedule do their parts, and sets the timers.
 * Runs in: handler.
 *
 * A thread's time is cut into strata, one behind the other.  The length of a
 * stratum depends only on what was seen before it began.  One moment in it is
 * drawn at random, and the thread's state at that moment gets the time of the
 * whole stratum.  So the expected time of every function is its true time,
 * whatever the program's rhythm.
 *
 * A stratum lasts one period, or longer while the thread stays in one wait
 * (the thread is then "parked").  If the thread blocked just once and used
 * hardly any CPU time since the last handler returned, it is still in the same
 * wait, and all time until now belongs to that wait exactly.  A timer on the
 * thread's CPU clock tells when the wait has ended and the thread computes; if
 * the thread blocked just once until then, the end of the wait is known
 * exactly as well, and a new stratum begins there.
 *
 * While the handler's budget lengthens the period, giving a whole stratum to
 * its moment would leave a thread that ends with too much or too little.  A
 * moment then gets the time since the moment before, half a period to one and
 * a half, which is as fair once a few of them have passed. */
#include "clock_real.h"

#include <sys/syscall.h>

#include "account.h"
#include "classify.h"
#include "estimate.h"
#include "jp_log.h"
#include "observe.h"
#include "schedule.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "sig/timers/left.h"
#include "sig/timers/timer.h"

/* The timer's period, which does not matter while each signal sets the timer to
 * the next moment. */
#define IDLE_NS JP_NS

/* Sets the timer to the stratum's moment.  Its period only matters once a
 * filter of the program's forbids to set it.  Until then it is long: the
 * kernel sets the timer to it at each signal, which costs an exit from a
 * virtual machine when that is the machine's next event. */
static void set_moment_sig(const struct jp_thread *thread)
{
    const struct jp_wall_stratum *stratum = &thread->clock.wall.stratum;
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t length = stratum->end_ns - stratum->begin_ns;
    jp_clock_set_timer_sig(thread->clock.timer,
                           stratum->moment_ns > now ? stratum->moment_ns - now
                                                    : 1,
                           length > IDLE_NS ? length : IDLE_NS);
}

static void begin_sig(struct jp_thread *thread, uint64_t first_ns)
{
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    struct jp_wall *wall = &thread->clock.wall;
    thread->clock.cpu_ns =
        jp_sys_clock_sig(jp_thread_clock_of_sig(thread->tid));
    *wall = (struct jp_wall){
        .seen.switches = JP_LEFT_UNKNOWN,
        .wait = {.restless_ns = wall->wait.restless_ns, .found_ns = now},
        .balance.given_ns = now,
        .stratum = {.armed_ns = now,
                    .begin_ns = now,
                    .end_ns = now + thread->clock.budget.period_ns,
                    .moment_ns = now + first_ns},
    };
}

/* The first moment is anywhere in a period, so that threads which start
 * together are not sampled together. */
static int arm_sig(struct jp_thread *thread)
{
    const uint64_t period = thread->clock.budget.period_ns;
    const uint64_t first = jp_clock_random_sig(thread->tid, period);
    atomic_store(&thread->clock.first_tick_ns, 0);
    begin_sig(thread, first);
    const int timer =
        jp_clock_thread_timer_sig(thread, CLOCK_MONOTONIC, first, period);
    if (timer < 0) {
        /* No signal will come: that there was none says nothing. */
        thread->clock.wall.balance.given_ns = 0;
        return timer;
    }
    thread->clock.timer = timer;
    return 0;
}

/* Reads what the kernel tells, and concludes from it what the thread does. */
static void look_sig(struct jp_thread *thread, const ucontext_t *context,
                     struct jp_look *look)
{
    struct jp_wall *wall = &thread->clock.wall;
    jp_observe_sig(thread, context, &look->seen);
    jp_classify_state_sig(wall, look);
    if (jp_classify_needs_traced_sig(look))
        jp_observe_tracer_sig(&look->seen);
    if (look->found.waits)
        jp_observe_wait_sig(thread, context, &look->seen);
    jp_classify_wait_sig(wall, look);
    if (jp_classify_needs_delay_sig(wall, look))
        jp_observe_delay_sig(&look->seen);
    jp_classify_held_sig(wall, look);
}

/* Whether a parked thread has computed for so long that its stratum ends; if it
 * has not, the timer on its CPU clock tells when it has. */
static int runs_long_sig(const struct jp_thread *thread,
                         const struct jp_finding *found)
{
    const struct jp_wall_stratum *stratum = &thread->clock.wall.stratum;
    const uint64_t period = thread->clock.budget.period_ns;
    const uint64_t longest = period * JP_SCHEDULE_RUN_PERIODS;
    if (stratum->fence_ns != 0)
        return 0;
    if (jp_schedule_runs_long_sig(stratum, found, period))
        return 1;
    jp_clock_set_timer_sig(thread->clock.cpu_wakeup,
                           found->used_ns + JP_SCHEDULE_RUNS_NS < longest
                               ? longest - found->used_ns
                               : JP_SCHEDULE_RUNS_NS,
                           0);
    return 0;
}

/* Tells the process what the stages have found out about looks. */
static void tell_sig(const struct jp_accounted *result)
{
    if (result->learns)
        jp_left_learn_sig(result->learned_ns);
    if (result->looking_ns != 0)
        jp_count_sig(JP_COUNT_LOOKING_NS, result->looking_ns);
}

/* A signal that takes no sample.  skipped: it is one of a timer that goes on by
 * itself. */
static void skip_sig(struct jp_thread *thread, const struct jp_look *look,
                     int skipped)
{
    const struct jp_given given = jp_observe_given_sig(thread);
    struct jp_accounted result = {0};
    if (!jp_estimate_skip_sig(&thread->clock.wall, &given, look, skipped,
                              &result))
        return;
    jp_observe_skipped_sig(thread, look);
    tell_sig(&result);
}

/* Finds out what the calling thread does, at a signal of one of its timers. */
static enum jp_observed observe_sig(struct jp_pass *pass)
{
    struct jp_thread *thread = pass->thread;
    struct jp_wall *wall = &thread->clock.wall;
    struct jp_look *look = pass->look;
    const struct jp_finding *found = &look->found;
#ifdef JP_TEST_QEMU /* qemu-user tells the host's number of a timer (7.2) */
    int woken = 0;
#else
    int woken = pass->signal.info->si_timerid != thread->clock.timer;
#endif
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const int skipped =
        !woken &&
        jp_schedule_follow_sig(&wall->stratum,
                               jp_budget_lowered_sig(&thread->clock.budget),
                               jp_observe_lifted_sig(thread), now);
    /* The signal was on its way when the timer was set anew, or deleted. */
    if (wall->balance.given_ns == 0 ||
        (woken ? !wall->stratum.parked
               : !skipped && now < wall->stratum.moment_ns))
        return JP_OBSERVED_NONE;
    look_sig(thread, pass->signal.interrupted, look);
    if (skipped)
        pass->due.counted_ns = jp_schedule_counted_sig(
            &wall->stratum, found, jp_observe_given_sig(thread).threads,
            wall->stratum.fence_period_ns);
    /* The CPU timer tells that the thread runs, but not when its wait ended:
     * the stratum stays as it was drawn, unless the thread runs on. */
    if ((woken || skipped) && !found->ends &&
        !(woken && runs_long_sig(thread, found))) {
        skip_sig(thread, look, skipped);
        return JP_OBSERVED_NONE;
    }
    jp_classify_since_sample_sig(wall, look);
    return found->same || found->returns ? JP_OBSERVED_COMPARE
                                         : JP_OBSERVED_DUE;
}

/* Works out what the sample stands for, and begins the next stratum. */
static void account_sig(struct jp_pass *pass)
{
    struct jp_thread *thread = pass->thread;
    struct jp_look *look = pass->look;
    struct jp_accounted result = {.due = &pass->due};
    jp_classify_compared_sig(&look->found, (enum jp_stack)pass->walk.stack);
    if (jp_schedule_shows_supervised_sig(look))
        jp_left_supervised_sig(look->seen.call.number, 1);
    const struct jp_given given = jp_observe_given_sig(thread);
    const struct jp_draw draw = jp_observe_draw_sig(thread, thread->tid);
    jp_estimate_sample_sig(&thread->clock.wall, &given, &draw, look, &result);
    jp_observe_sampled_sig(thread, look, result.late_ns);
    tell_sig(&result);
}

/* Writes what no sample covers when the thread or its profile ends. */
static int flush_sig(struct jp_thread *thread, struct jp_due *due)
{
    struct jp_wall *wall = &thread->clock.wall;
    const struct jp_given given = jp_observe_given_sig(thread);
    struct jp_accounted result = {.due = due};
    struct jp_end end;
    jp_observe_end_sig(thread, &end);
    const uint64_t until = jp_schedule_reach_sig(&wall->stratum, &given, &end);
    if (atomic_load(&thread->state) == JP_THREAD_ENDING)
        jp_observe_ended_sig(thread, end.now_ns);
    const int any =
        jp_account_rest_sig(wall, &end, given.cost_ns, until, &result);
    jp_count_sig(JP_COUNT_LOOKING_NS, result.looking_ns);
    if (any)
        jp_schedule_stop_sig(&wall->stratum);
    return any;
}

/* Begins the current stratum anew with the period's length. */
static void restart_sig(struct jp_thread *thread, int memoryless)
{
    struct jp_wall *wall = &thread->clock.wall;
    const struct jp_given given = jp_observe_given_sig(thread);
    const struct jp_draw draw = jp_observe_draw_sig(thread, thread->tid);
    const struct jp_plan plan = {wall->stratum.begin_ns, given.period_ns,
                                 memoryless};
    jp_schedule_begin_sig(wall, &given, &draw, &plan);
}

static int pace_sig(struct jp_thread *thread)
{
    const struct jp_wall *wall = &thread->clock.wall;
    if (wall->stratum.parked || wall->balance.given_ns == 0)
        return 0;
    const struct jp_given given = jp_observe_given_sig(thread);
    restart_sig(thread, jp_schedule_memoryless_sig(
                            wall, &given, jp_sys_clock_sig(CLOCK_MONOTONIC)));
    set_moment_sig(thread);
    return 0;
}

/* Makes, when it is first needed, the timer on the thread's CPU clock.  Returns
 * whether there is one. */
static int ensure_cpu_wakeup_sig(struct jp_thread *thread)
{
    if (thread->clock.cpu_wakeup >= 0 ||
        thread->clock.wall.stratum.fence_ns != 0)
        return 1;
    const int timer = jp_clock_thread_timer_sig(
        thread, jp_thread_clock_of_sig(thread->tid), JP_SCHEDULE_RUNS_NS, 0);
    if (timer >= 0)
        thread->clock.cpu_wakeup = timer;
    else if (!thread->clock.no_cpu_wakeup)
        jp_count_sig(JP_COUNT_NO_WAKER, 1);
    thread->clock.no_cpu_wakeup = timer < 0;
    return timer >= 0;
}

/* Sets the thread's timers for the next stratum. */
static void schedule_sig(struct jp_thread *thread)
{
    struct jp_wall_stratum *stratum = &thread->clock.wall.stratum;
    if (stratum->parked && !ensure_cpu_wakeup_sig(thread)) {
        jp_schedule_unpark_sig(stratum);
        restart_sig(thread, stratum->memoryless);
    }
    if (stratum->parked)
        jp_clock_set_timer_sig(thread->clock.cpu_wakeup, JP_SCHEDULE_RUNS_NS,
                               0);
    else if (stratum->was_parked)
        jp_clock_set_timer_sig(thread->clock.cpu_wakeup, 0, 0);
    set_moment_sig(thread);
    jp_observe_done_sig(thread, stratum->parked && !stratum->was_parked);
}

/* A signal that finds its thread in the handler leaves nothing to carry:
 * samples cover all time from one moment to the next.  But it may have been
 * the signal of the next moment, so the timer is set again. */
static uint64_t untaken_sig(struct jp_thread *thread,
                            const struct jp_signal *signal)
{
    if (thread == NULL)
        return jp_clock_weight_sig(signal->info->si_overrun);
    const int timer = thread->clock.timer;
    if (timer >= 0)
        jp_clock_set_timer_sig(timer, thread->clock.budget.period_ns, IDLE_NS);
    return 0;
}

/* Sets the thread's timer for the last time, before a filter of the program's
 * forbids it: the timer goes on period by period. */
static void fence_sig(struct jp_thread *thread)
{
    struct jp_wall_stratum *stratum = &thread->clock.wall.stratum;
    const struct jp_given given = jp_observe_given_sig(thread);
    const struct jp_draw period = jp_observe_draw_sig(thread, ~thread->tid);
    const struct jp_draw first = jp_observe_draw_sig(thread, thread->tid);
    if (thread->clock.timer < 0)
        return;
    const uint64_t until =
        jp_schedule_fence_sig(stratum, &given, &period, &first);
    jp_clock_set_timer_last_sig(thread->clock.timer, until,
                                stratum->fence_period_ns);
}

const struct jp_clock_kind jp_clock_real = {
    .id = JP_CLOCK_MONOTONIC,
    .per_thread = 1,
    .interrupts = 1,
    .sees_waits = 1,
    .call = SYS_timer_create,
    .count_refused = JP_COUNT_NO_TIMER,
    .count_filtered = JP_COUNT_NO_TIMER_FILTER,
    .owns = jp_clock_timer_owns_sig,
    .find = jp_clock_timer_find_sig,
    .observe = observe_sig,
    .account = account_sig,
    .untaken = untaken_sig,
    .schedule = schedule_sig,
    .flush = flush_sig,
    .arm = arm_sig,
    .disarm = jp_clock_timer_disarm_sig,
    .pace = pace_sig,
    .fence = fence_sig,
};
