/* SPDX-License-Identifier: MIT
 *
 * The clock kind of real time, with one timer for each thread.
 * Runs in: handler.
 *
 * A thread's time is cut into strata, one behind the other.  The length of a
 * stratum depends only on what was seen before it began.  One moment in it is
 * drawn at random, and what the thread does at that moment gets the time of
 * the whole stratum.  So the expected time of every function is its true time,
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

#include "sig/timers/timer.h"
#include "delay.h"
#include "jp_log.h"
#include "sig/timers/left.h"
#include "queues.h"
#include "sig/arch/arch.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "still.h"
#include "strata.h"
#include "traced.h"
#include "sig/timers/used.h"
#include "weigh.h"

/* The stratum of a waiting thread is the time that it has been in its wait, or
 * a PART_OF_RESTLESSth of it for a restless thread.  A thread is restless for
 * RESTLESS_NS after it was seen to end a wait or to compute; in the first
 * WATCHED_NS of each wait it is then sampled period by period. */
#define PART_OF_RESTLESS 16U
#define RESTLESS_NS (60 * JP_NS)
#define WATCHED_NS JP_NS

/* Two samples of one wait have at most SAME_NS of CPU time between them (on a
 * busy virtual machine the return into the call takes some 200 us now and
 * then). */
#define SAME_NS 500000U

/* Whether there is a tracer is asked where a thread has used more than this
 * part of the time. */
#define TRACED_PART 8U

/* Less CPU time of a parked thread's is no sample of its own. */
#define PARKED_RAN_NS 50000

/* The timer's period, which does not matter while each signal sets the timer to
 * the next moment. */
#define IDLE_NS JP_NS

/* Sets the timer to the stratum's moment.  Its period only matters once a
 * filter of the program's forbids to set it.  Until then it is long: the
 * kernel sets the timer to it at each signal, which costs an exit from a
 * virtual machine when that is the machine's next event. */
static void set_moment_sig(const struct jp_thread *thread)
{
    const struct jp_watch *watch = &thread->clock.watch;
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t length = watch->end_ns - watch->begin_ns;
    jp_clock_set_timer_sig(thread->clock.timer,
                           watch->moment_ns > now ? watch->moment_ns - now : 1,
                           length > IDLE_NS ? length : IDLE_NS);
}

static void begin_sig(struct jp_thread *thread, uint64_t first_ns)
{
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    thread->clock.cpu_ns =
        jp_sys_clock_sig(jp_thread_clock_of_sig(thread->tid));
    thread->clock.watch = (struct jp_watch){
        .armed_ns = now,
        .begin_ns = now,
        .end_ns = now + thread->clock.budget.period_ns,
        .moment_ns = now + first_ns,
        .given_ns = now,
        .found_ns = now,
        .switches = JP_LEFT_UNKNOWN,
        .restless_ns = thread->clock.watch.restless_ns,
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
        thread->clock.watch.given_ns = 0;
        return timer;
    }
    thread->clock.timer = timer;
    return 0;
}

/* How long a thread has lacked a CPU since its long wait ended; 0 where that is
 * not known.  It was woken found->blocks times and then lost its CPU some
 * times, and the time before it got one is taken to have been as long each
 * time. */
static uint64_t held_sig(const struct jp_watch *watch,
                         const struct jp_found *found)
{
    const uint64_t held = found->held - watch->held;
    if (held == 0 || found->blocks == JP_LEFT_UNKNOWN)
        return 0;
    const uint64_t delay = jp_delay_sig();
    return delay != JP_DELAY_UNKNOWN && watch->delay_ns != JP_DELAY_UNKNOWN &&
                   delay > watch->delay_ns
               ? (delay - watch->delay_ns) / (held + found->blocks) * held
               : 0;
}

/* Whether a thread that was found waiting, and has blocked once since, has most
 * likely been slow to get back into that wait.  Behind a filter each signal has
 * it leave its wait, and it takes long now and then: a virtual machine's host
 * runs something else meanwhile, which the guest takes for CPU time of the
 * thread's.  That the wait ended while the handler ran, and the thread then
 * computed, looks the same.  But of a thread whose waits end, that is hardly
 * ever all that is seen: it is far less likely where none was seen to end for
 * WATCHED_NS. */
static int slow_return_sig(const struct jp_watch *watch,
                           const struct jp_found *found)
{
    return watch->fence_ns != 0 && watch->waits && found->blocks == 1 &&
           found->now + RESTLESS_NS >= watch->restless_ns + WATCHED_NS;
}

/* Where the kernel does not tell how often it has blocked: whether the thread
 * seems not to have left its wait since the last signal. */
static int seems_still_sig(struct jp_thread *thread, const ucontext_t *context)
{
    struct jp_watch *watch = &thread->clock.watch;
    const uint64_t before = watch->print;
    watch->print = watch->found.waits && watch->found.blocks == JP_LEFT_UNKNOWN
                       ? jp_still_print_sig(thread, context)
                       : 0;
    return watch->waits && watch->print != 0 && watch->print == before;
}

/* Whether a thread that computes, and has blocked since the last signal, did so
 * for its tracer only: a signal stops it and comes late then, so that it seems
 * to have lacked a CPU. */
static int seems_traced_sig(const struct jp_watch *watch,
                            const struct jp_found *found)
{
    return !found->waits && found->blocks != 0 &&
           found->blocks != JP_LEFT_UNKNOWN &&
           found->used > (found->now - watch->found_ns) / TRACED_PART &&
           jp_traced_sig(found->now);
}

/* (Where the kernel does not tell the CPU time, a thread outside of a wait is
 * taken to have had the CPU since its last sample, but for a long stratum.) */
static void find_sig(struct jp_thread *thread, const ucontext_t *context,
                     struct jp_found *found)
{
    struct jp_watch *watch = &thread->clock.watch;
    found->switches = jp_left_switches_sig(&found->held);
    found->now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t cpu = jp_used_cpu_sig();
    found->used = jp_used_since_sig(cpu, thread->clock.cpu_ns);
    found->blocks = jp_left_blocks_sig(thread, found->switches);
    const int idle = found->used <= SAME_NS || slow_return_sig(watch, found);
    found->waits =
        (found->blocks != 0 || idle) &&
        jp_arch_waited_sig(context, found->blocks != 0 &&
                                        (found->used <= JP_WEIGH_CALL_NS ||
                                         jp_left_wait_sig(context)));
    found->still = seems_still_sig(thread, context);
    if (found->still)
        found->blocks = 1;
    if (cpu == JP_USED_UNKNOWN && !found->waits)
        found->used = jp_weigh_less_sig(found->now - watch->found_ns,
                                        watch->parked ? SAME_NS : UINT64_MAX);
    found->cpu = thread->clock.cpu_ns + found->used;
    /* (Where others want the CPU it may lose it on its way back.) */
    const uint64_t back =
        cpu != JP_USED_UNKNOWN ? found->used : found->now - watch->found_ns;
    found->returns = watch->waits && !found->waits && found->blocks == 0 &&
                     back <= 2 * JP_WEIGH_CALL_NS;
    if (seems_traced_sig(watch, found))
        found->blocks = 0;
    found->call = found->waits ? jp_arch_call_sig(context) : -1;
    found->queues = found->call >= 0 &&
                    jp_queues_found_sig(thread->tid, found->call,
                                        jp_arch_first_sig(context), found->now);
    /* blocks 0: the thread was not yet back in its wait when this signal came.
     * blocks 1: it may also have blocked in another wait, if the one before
     * ended while the handler ran; comparing the stacks tells (compared_sig).
     * That the wait has ended is concluded only after a signal in time, which
     * surely let the thread back into it.  blocks 2: it may have been woken
     * for nothing. */
    const int slow = slow_return_sig(watch, found);
    found->same = watch->waits && found->waits &&
                  (slow || (idle && !found->still)) &&
                  (found->blocks <= 1 ||
                   (found->blocks == 2 && found->used <= JP_WEIGH_CALL_NS &&
                    jp_left_shared_sig(thread)));
    found->other = 0;
    /* blocks 0, computing: the wait was over when the last handler returned. */
    const int over =
        found->blocks == 0 && !found->returns && watch->fence_ns == 0;
    found->ends = watch->parked && watch->waits && !watch->moved &&
                  !found->waits &&
                  (over || (found->blocks == 1 && !watch->late));
    found->held_ns = 0;
    if (found->ends && over)
        found->held_ns = found->now - watch->found_ns -
                         jp_weigh_less_sig(found->now - watch->found_ns,
                                           found->used + watch->ours_ns);
    else if (watch->parked && !found->waits && watch->fence_ns == 0)
        found->held_ns = held_sig(watch, found);
}

/* Whether a wait of the thread has ended since the last signal. */
static int changed_sig(const struct jp_watch *watch,
                       const struct jp_found *found)
{
    return watch->waits &&
           ((!found->waits && !found->returns) ||
            (found->blocks > 1 && !found->same) || found->other);
}

/* Whether the thread is restless: a wait of it has ended, or it computed. */
static int is_restless_sig(const struct jp_watch *watch,
                           const struct jp_found *found)
{
    return changed_sig(watch, found) ||
           (!found->waits && found->blocks == 0 && found->used > SAME_NS);
}

/* The length of the next stratum, in ns. */
static uint64_t length_sig(const struct jp_thread *thread,
                           const struct jp_found *found)
{
    const struct jp_watch *watch = &thread->clock.watch;
    const uint64_t period = thread->clock.budget.period_ns;
    const uint64_t in_it = found->now - watch->since_ns;
    /* While signals cost too much, waiting threads get fewer of them, but for
     * those in a queue: the moments of long strata have a memory. */
    const int short_ones = jp_strata_memoryless_sig(thread, found->now) ||
                           !jp_budget_lowered_sig(&thread->clock.budget);
    const int restless = short_ones && found->now < watch->restless_ns;
    const int brief =
        restless || (short_ones && jp_strata_passing_sig(thread, found->now));
    uint64_t length = brief ? in_it / PART_OF_RESTLESS : in_it;
    if (!found->same || (restless && in_it < WATCHED_NS) ||
        jp_strata_young_sig(thread, found->now))
        length = 0;
    length = jp_weigh_less_sig(length, JP_STRATUM_MAX_NS);
    if (jp_left_supervised_sig(found->call,
                               found->same && found->blocks == 1) &&
        length < JP_LEFT_SUPERVISED_NS)
        length = JP_LEFT_SUPERVISED_NS;
    return length > period ? length : period;
}

/* Whether a parked thread has computed for so long that its stratum ends; if it
 * has not, the timer on its CPU clock tells when it has. */
static int runs_long_sig(const struct jp_thread *thread)
{
    const struct jp_found *found = &thread->clock.watch.found;
    const uint64_t longest =
        thread->clock.budget.period_ns * JP_STRATA_RUN_PERIODS;
    if (thread->clock.watch.fence_ns != 0)
        return 0;
    if (!found->waits && found->used >= longest)
        return 1;
    jp_clock_set_timer_sig(thread->clock.cpu_wakeup,
                           found->used + JP_STRATA_RUNS_NS < longest
                               ? longest - found->used
                               : JP_STRATA_RUNS_NS,
                           0);
    return 0;
}

/* Finds out what the calling thread does, at a signal of one of its timers.
 * Returns 0 when the signal is no sample. */
static int look_sig(struct jp_thread *thread, const struct jp_signal *signal,
                    struct jp_due *due)
{
    struct jp_watch *watch = &thread->clock.watch;
#ifdef JP_TEST_QEMU /* qemu-user tells the host's number of a timer (7.2) */
    int woken = 0;
#else
    int woken = signal->info->si_timerid != thread->clock.timer;
#endif
    struct jp_found *found = &watch->found;
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const int skipped = !woken && jp_strata_follow_sig(thread, now);
    /* The signal was on its way when the timer was set anew, or deleted. */
    if (watch->given_ns == 0 ||
        (woken ? !watch->parked : !skipped && now < watch->moment_ns))
        return 0;
    find_sig(thread, signal->interrupted, found);
    if (skipped)
        due->counted_ns = jp_strata_counted_sig(watch, watch->fence_period_ns);
    /* The CPU timer tells that the thread runs, but not when its wait ended:
     * the stratum stays as it was drawn, unless the thread runs on. */
    if ((!woken && !skipped) || found->ends ||
        (woken && runs_long_sig(thread))) {
        jp_strata_since_sample_sig(thread);
        return 1;
    }
    if (is_restless_sig(watch, found))
        watch->restless_ns = found->now + RESTLESS_NS;
    if (skipped && found->blocks != 0 && found->blocks != JP_LEFT_UNKNOWN) {
        jp_weigh_count_sig(watch, found);
        jp_left_seen_sig(thread, found->switches, found->held);
        jp_strata_pass_sig(thread, found);
    }
    return 0;
}

/* Takes over how the stacks compare of a thread that seems to be in the same
 * wait as at the last signal, or on its way back into it. */
static void compared_sig(struct jp_found *found, enum jp_stack stack)
{
    if (found->returns) {
        found->returns = stack == JP_STACK_SAME;
        return;
    }
    found->same = found->same && stack == JP_STACK_SAME;
    found->other = stack == JP_STACK_OTHER;
}

/* Works out what the sample stands for, and begins the next stratum. */
static void weigh_sig(struct jp_thread *thread, struct jp_due *weight)
{
    struct jp_watch *watch = &thread->clock.watch;
    const struct jp_found *found = &watch->found;
    const uint64_t given = watch->given_ns;
    if (is_restless_sig(watch, found))
        watch->restless_ns = found->now + RESTLESS_NS;
    /* The signal puts the thread at the queue's end: if its next moments
     * followed from earlier ones, they would decide who is woken next. */
    if (found->queues)
        watch->queued_ns = found->now + JP_QUEUES_NS;
    jp_weigh_count_sig(watch, found);
    if (!found->same && !found->returns)
        watch->since_ns = found->now;
    const uint64_t length = length_sig(thread, found);
    watch->was_parked = watch->parked;
    watch->late = found->now > watch->moment_ns + JP_STRATA_PROMPT_NS;
    /* For so long, at most, it lacked a CPU for this look: little where that
     * came in time, but a long wait has many. */
    if (watch->delay_ns != JP_DELAY_UNKNOWN && found->now > watch->moment_ns)
        watch->delay_ns += found->now - watch->moment_ns;
    if (found->ends) {
        jp_weigh_end_sig(watch, found, weight);
    } else if (found->same && length > thread->clock.budget.period_ns) {
        weight->blocked =
            found->now > watch->given_ns ? found->now - watch->given_ns : 0;
        if (found->now > watch->given_ns)
            watch->given_ns = found->now;
        if (found->now > watch->end_ns || watch->memoryless)
            watch->end_ns = watch->given_ns;
    } else {
        jp_weigh_give_sig(thread, found, weight);
    }
    watch->waits = (uint8_t)(found->waits || found->returns);
    watch->parked = length > thread->clock.budget.period_ns;
    thread->clock.cpu_ns = found->cpu;
    watch->found_ns = found->now;
    jp_strata_begin_sig(thread, watch->end_ns, length,
                        jp_strata_memoryless_sig(thread, found->now));
    weight->counted_ns = jp_strata_counted_sig(watch, watch->given_ns - given);
    weight->probes = weight->running != 0 && !watch->was_parked;
}

static enum jp_observed observe_sig(struct jp_pass *pass)
{
    const struct jp_found *found = &pass->thread->clock.watch.found;
    if (!look_sig(pass->thread, &pass->signal, &pass->due))
        return JP_OBSERVED_NONE;
    return found->same || found->returns ? JP_OBSERVED_COMPARE
                                         : JP_OBSERVED_DUE;
}

static void account_sig(struct jp_pass *pass)
{
    compared_sig(&pass->thread->clock.watch.found,
                 (enum jp_stack)pass->walk.stack);
    weigh_sig(pass->thread, &pass->due);
}

/* The time that no sample covers, taken to have passed where the last signal
 * found the thread.  A parked thread waited all of it but for its CPU time that
 * is in no sample, as has one with a lengthened period; the rest of a long
 * stratum is a wait's.  Short times of running are left out, and of a parked
 * thread, which may have nothing else, very short ones only. */
static int flush_sig(struct jp_thread *thread, struct jp_due *weight)
{
    struct jp_watch *watch = &thread->clock.watch;
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t cpu = jp_used_of_sig(thread->tid);
    uint64_t held;
    /* (A clock that cannot be read may also be a filter's doing.) */
    const int gone = cpu == 0 && jp_thread_is_gone_sig(thread->tid);
    const uint64_t until = jp_strata_reach_sig(thread, now, gone);
    if (atomic_load(&thread->state) == JP_THREAD_ENDING)
        jp_strata_ended_sig(thread, now);
    const int rest = until <= watch->begin_ns;
    const uint64_t least = watch->parked || rest ? 0 : JP_CLOCK_FLUSH_MIN_NS;
    int64_t ran =
        cpu > thread->clock.cpu_ns ? (int64_t)(cpu - thread->clock.cpu_ns) : 0;
    if (watch->given_ns == 0)
        return 0;
    /* The last look made it leave its wait, too, and get back into it. */
    const int64_t looked =
        watch->waits
            ? (int64_t)jp_weigh_less_sig(jp_left_cost_sig(), (uint64_t)ran)
            : 0;
    jp_count_sig(JP_COUNT_LOOKING_NS, (uint64_t)looked + watch->doubt_ns);
    watch->doubt_ns = watch->doubt_cost_ns = 0;
    if (until <= watch->given_ns + least) {
        watch->given_ns = 0;
        return 0;
    }
    const uint64_t left = until - watch->given_ns;
    /* (The switches of another thread cannot be asked for.) */
    const int guessed =
        watch->parked && watch->waits &&
        (jp_sys_gettid_sig() != thread->tid
             ? ran > SAME_NS
             : jp_left_blocks_sig(thread, jp_left_switches_sig(&held)) > 1);
    ran = rest && !watch->parked ? 0 : ran + watch->remainder_ns - looked;
    if (ran < (watch->parked ? PARKED_RAN_NS : 0))
        ran = 0;
    *weight = (struct jp_due){.running = jp_weigh_less_sig((uint64_t)ran, left),
                              .guessed = guessed};
    *(watch->waits ? &weight->before : &weight->ready) = left - weight->running;
    if (weight->running < JP_CLOCK_FLUSH_MIN_NS && !watch->parked)
        weight->running = 0;
    watch->given_ns = 0;
    watch->parked = watch->was_parked = 0;
    if (weight->ready < JP_CLOCK_FLUSH_MIN_NS)
        weight->ready = 0;
    return 1;
}

/* Begins the current stratum anew with the period's length. */
static int pace_sig(struct jp_thread *thread)
{
    struct jp_watch *watch = &thread->clock.watch;
    if (watch->parked || watch->given_ns == 0)
        return 0;
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    jp_strata_begin_sig(thread, watch->begin_ns, thread->clock.budget.period_ns,
                        jp_strata_memoryless_sig(thread, now));
    set_moment_sig(thread);
    return 0;
}

/* Makes, when it is first needed, the timer on the thread's CPU clock.  Returns
 * whether there is one. */
static int ensure_cpu_wakeup_sig(struct jp_thread *thread)
{
    if (thread->clock.cpu_wakeup >= 0 || thread->clock.watch.fence_ns != 0)
        return 1;
    const int timer = jp_clock_thread_timer_sig(
        thread, jp_thread_clock_of_sig(thread->tid), JP_STRATA_RUNS_NS, 0);
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
    struct jp_watch *watch = &thread->clock.watch;
    if (watch->parked && !ensure_cpu_wakeup_sig(thread)) {
        watch->parked = 0;
        jp_strata_begin_sig(thread, watch->begin_ns,
                            thread->clock.budget.period_ns, watch->memoryless);
    }
    if (watch->parked)
        jp_clock_set_timer_sig(thread->clock.cpu_wakeup, JP_STRATA_RUNS_NS, 0);
    else if (watch->was_parked)
        jp_clock_set_timer_sig(thread->clock.cpu_wakeup, 0, 0);
    set_moment_sig(thread);
    if (watch->parked && !watch->was_parked)
        watch->delay_ns = jp_delay_sig();
    /* CPU time and switches of the handler are not the thread's. */
    uint64_t held;
    const uint64_t switches = jp_left_switches_sig(&held);
    jp_left_seen_sig(thread, switches, held);
    watch->passed = 0;
    watch->moved = 0;
    watch->ours_ns = jp_used_since_sig(jp_used_cpu_sig(), thread->clock.cpu_ns);
    thread->clock.cpu_ns += watch->ours_ns;
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
    .fence = jp_strata_fence_sig,
};
