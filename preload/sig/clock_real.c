/* SPDX-License-Identifier: MIT
 *
 * Real time, a timer a thread.
 * Runs in: handler.
 *
 * A thread's time is cut into strata, one behind the other.  How long the next
 * one is depends only on what was seen before it begins; one moment in it is
 * drawn at random, and what the thread does at that moment gets the stratum.
 * So the expected time of every function is its true time, whatever the
 * program's rhythm.
 *
 * Strata last a period, and longer for a thread that stays in one wait.  That
 * it is still the same wait is proven by its having blocked just once, and
 * used no CPU time to speak of, since our handler sent it back: then all time
 * until now is this wait's, exactly.  Where the wait ends and the thread
 * computes, a timer on its CPU clock tells; if it blocked just once until
 * then, the end of the wait is known exactly as well, and a new stratum begins
 * there.
 *
 * Where the handler's budget makes the period longer, a whole stratum given at
 * its moment would be much at a thread's end.  Then a moment gets the time since
 * the one before, half a period to one and a half: that is as fair once the
 * thread has been sampled like this for a while. */
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

/* The longest stratum. */
#define LONGEST_NS (4 * JP_NS)

/* A stratum is such a part of the time that the thread has been in its wait;
 * the smaller one of a restless thread.  That is one that was seen to end a
 * wait, for RESTLESS_NS from then on; and for the first WATCHED_NS of each of
 * its waits it is looked at period by period. */
#define PART 3U
#define PART_OF_RESTLESS 64U
#define RESTLESS_NS (60 * JP_NS)
#define WATCHED_NS JP_NS

/* CPU time that says that a thread runs again.  It must cover the rest of our
 * own handler and the way back into the call. */
#define RUNS_NS 1000000U

/* Between two samples of the same wait there is this much at most: on a busy
 * virtual machine the way back takes some 200 us now and then.  A call that
 * ended with less was one in which the thread had waited. */
#define SAME_NS 500000U
#define CALL_NS 100000U

/* A signal that comes later than this to a thread outside a wait found it off
 * the CPU. */
#define LATE_NS 80000U

/* Unless so many strata of CPU time are due: then the signals are late. */
#define MANY 4

/* How often the thread blocked, if the kernel tells. */
#define UNKNOWN UINT64_MAX

/* What a signal found. */
struct found {
    uint64_t now, cpu;
    uint64_t used;      /* CPU time since our handler ran last */
    uint64_t blocks;    /* how often the thread blocked since; or UNKNOWN */
    int waits;          /* it waits in a call */
    int same;           /* in that in which it was found last */
};

static uint64_t min_sig(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t switches_sig(void)
{
    struct rusage usage;
    if (jp_sys_sig(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0) != 0)
        return UNKNOWN;
    return (uint64_t)usage.ru_nvcsw;
}

/* Begins a stratum of `length` at `begin`. */
static void stratum_sig(struct jp_slot *slot, uint64_t begin, uint64_t length)
{
    struct jp_watch *watch = &slot->watch;
    watch->begin_ns = begin;
    watch->end_ns = begin + length;
    watch->moment_ns = begin + jp_clock_random_sig(slot->tid, length);
    if (!watch->calm && jp_budget_lowered_sig(&slot->budget))
        watch->moment_ns += length / 2;
}

/* Sets the timer to the stratum's moment.  The period is for when it cannot be
 * set any more, behind a filter of the program's. */
static void set_moment_sig(const struct jp_slot *slot)
{
    const struct jp_watch *watch = &slot->watch;
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    jp_clock_set_timer_sig(slot->timer,
                           watch->moment_ns > now ? watch->moment_ns - now : 1,
                           watch->end_ns - watch->begin_ns);
}

void jp_clock_real_begin_sig(struct jp_slot *slot, uint64_t first_ns)
{
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    slot->cpu_ns = jp_sys_clock_sig(jp_clock_of_thread_sig(slot->tid));
    slot->watch = (struct jp_watch){
        .begin_ns = now,
        .end_ns = now + slot->budget.period_ns,
        .moment_ns = now + first_ns,
        .given_ns = now,
        .switches = UNKNOWN,
        .restless_ns = slot->watch.restless_ns,
    };
}

static void look_sig(struct jp_slot *slot, const ucontext_t *context,
                     struct found *found)
{
    struct jp_watch *watch = &slot->watch;
    const uint64_t switches = switches_sig();
    found->now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    found->cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    found->used = found->cpu - slot->cpu_ns;
    found->blocks = switches == UNKNOWN || watch->switches == UNKNOWN
                        ? UNKNOWN
                        : switches - watch->switches;
    const int idle = found->used <= SAME_NS;
    found->waits = (found->blocks != 0 || idle) &&
                   jp_arch_waited_sig(context, found->used <= CALL_NS);
    /* Not once: it was not yet back when the next signal came. */
    found->same = watch->waits && found->waits && found->blocks <= 1 && idle;
}

/* Whether a wait of the thread's has ended since it was found last. */
static int changed_sig(const struct jp_watch *watch,
                       const struct found *found)
{
    return watch->waits && (!found->waits || found->blocks > 1);
}

/* The CPU time since our handler began last is due to samples, but for what our
 * own signals took while the thread waited. */
static void due_sig(struct jp_watch *watch, const struct found *found)
{
    const uint64_t all = found->used + watch->ours_ns;
    uint64_t due = found->same ? 0 : found->used;
    if (found->blocks == 0 && !found->same)
        due = all;
    watch->due_ns += (int64_t)due;
    if (all > due)
        jp_count_sig(JP_COUNT_LOOKING_NS, all - due);
}

/* How long the next stratum is. */
static uint64_t length_sig(const struct jp_slot *slot,
                           const struct found *found)
{
    const struct jp_watch *watch = &slot->watch;
    const uint64_t period = slot->budget.period_ns;
    const uint64_t in_it = found->now - watch->since_ns;
    /* Where signals are too dear, fewer of them to those that wait. */
    const int restless = found->now < watch->restless_ns &&
                         !jp_budget_lowered_sig(&slot->budget);
    uint64_t length = in_it / (restless ? PART_OF_RESTLESS : PART);
    if (!found->same || (restless && in_it < WATCHED_NS))
        length = 0;
    length = min_sig(length, LONGEST_NS);
    return length > period ? length : period;
}

/* A thread that never blocked since its last sample used some of the time, and
 * waited for a CPU the rest.  A period is all one or all the other; what it
 * leaves is due with the next. */
static void divide_sig(struct jp_slot *slot, uint64_t all,
                       struct jp_real *real)
{
    struct jp_watch *watch = &slot->watch;
    uint64_t running =
        watch->due_ns > 0 ? min_sig((uint64_t)watch->due_ns, all) : 0;
    if (all < slot->budget.period_ns * 3 / 2)
        running = watch->due_ns * 2 >= (int64_t)all ? all : 0;
    watch->due_ns -= (int64_t)running;
    real->running = running;
    real->ready = all - running;
}

/* Found running by chance.  Its thread's CPU time is known: weights lean to
 * where the sum of all samples that found the thread running becomes that;
 * other samples have the difference. */
static void running_sig(struct jp_watch *watch, uint64_t all,
                        struct jp_real *real)
{
    int64_t running = ((int64_t)all + watch->due_ns) / 2;
    if (running < 0)
        running = 0;
    if (running > 2 * (int64_t)all)
        running = 2 * (int64_t)all;
    watch->due_ns -= running;
    watch->lent_ns += running - (int64_t)all;
    real->running = (uint64_t)running;
}

static void blocked_sig(struct jp_watch *watch, uint64_t all,
                        struct jp_real *real)
{
    const int64_t half = (int64_t)all / 2;
    int64_t back = watch->lent_ns;
    if (back > half)
        back = half;
    if (back < -half)
        back = -half;
    watch->lent_ns -= back;
    real->blocked = (uint64_t)((int64_t)all - back);
}

/* Gives a stratum to what was found at its moment. */
static void give_sig(struct jp_slot *slot, const struct found *found,
                     struct jp_real *real)
{
    struct jp_watch *watch = &slot->watch;
    const int lowered =
        !watch->calm && jp_budget_lowered_sig(&slot->budget);
    const uint64_t end = lowered || found->now > watch->end_ns
                             ? found->now
                             : watch->end_ns;
    const uint64_t all = end - watch->begin_ns;
    const int64_t due = watch->due_ns;
    if (watch->begin_ns > watch->given_ns)
        real->before = watch->begin_ns - watch->given_ns;
    watch->given_ns = end;
    if (found->blocks == 0 && (!found->waits || due * 2 >= (int64_t)all)) {
        divide_sig(slot, all, real);
    } else if (found->waits) {
        blocked_sig(watch, all, real);
    } else if (watch->calm) {
        /* No more than it can have used; what it waited for is not known, and
         * was most likely what it had always waited for. */
        real->running = due > 0 ? min_sig((uint64_t)due, all) : 0;
        watch->due_ns -= (int64_t)real->running;
        real->before += all - real->running;
    } else if (found->now - watch->moment_ns > LATE_NS &&
               due < MANY * (int64_t)all) {
        real->ready = all;
    } else {
        running_sig(watch, all, real);
    }
}

/* The wait has ended, just before the thread used this CPU time. */
static void end_wait_sig(struct jp_watch *watch, const struct found *found,
                         struct jp_real *real)
{
    const uint64_t end = found->now - min_sig(found->used, found->now);
    if (end > watch->given_ns) {
        real->before = end - watch->given_ns;
        watch->given_ns = end;
    }
    if (found->now > watch->given_ns) {
        real->running = found->now - watch->given_ns;
        watch->given_ns = found->now;
        watch->due_ns -= (int64_t)real->running;
    }
    watch->end_ns = watch->given_ns;
}

/* What of a gap the handler's budget grows with.  A thread that blocked had
 * time left over; all of those together have as much as one would.  One that
 * did not was kept waiting for the CPU, and our handler keeps it longer. */
static uint64_t counted_sig(const struct found *found, uint64_t gap)
{
    const uint64_t threads = jp_slots_taken_sig();
    const uint64_t part = threads > 1 ? gap / threads : gap;
    return found->blocks == 0 || found->used > part ? found->used : part;
}

int jp_clock_real_sig(struct jp_slot *slot, const siginfo_t *info,
                      const ucontext_t *context, struct jp_real *real)
{
    struct jp_watch *watch = &slot->watch;
    const int woken = info->si_timerid != slot->timer;
    const uint64_t given = watch->given_ns;
    struct found found;
    *real = (struct jp_real){0};
    /* One that was on its way when the timer was set anew, or taken away. */
    if (given == 0 ||
        (woken ? !watch->calm
               : jp_sys_clock_sig(CLOCK_MONOTONIC) < watch->moment_ns))
        return 0;
    look_sig(slot, context, &found);
    const int ends = watch->calm && watch->waits && !found.waits &&
                     found.blocks == 1;
    if (changed_sig(watch, &found))
        watch->restless_ns = found.now + RESTLESS_NS;
    /* Other waits have begun: the stratum's moment is still to come. */
    if (woken && !ends)
        return 0;
    due_sig(watch, &found);
    if (!found.same)
        watch->since_ns = found.now;
    const uint64_t length = length_sig(slot, &found);
    watch->was_calm = watch->calm;
    if (ends) {
        end_wait_sig(watch, &found, real);
    } else if (found.same && length > slot->budget.period_ns) {
        real->blocked = found.now > watch->given_ns
                            ? found.now - watch->given_ns
                            : 0;
        if (found.now > watch->given_ns)
            watch->given_ns = found.now;
        if (found.now > watch->end_ns)
            watch->end_ns = found.now;
    } else {
        give_sig(slot, &found, real);
        watch->end_ns = watch->given_ns;
    }
    watch->waits = (uint8_t)found.waits;
    watch->calm = length > slot->budget.period_ns;
    slot->cpu_ns = found.cpu;
    stratum_sig(slot, watch->end_ns, length);
    real->counted_ns = counted_sig(&found, watch->given_ns - given);
    real->probes = real->running != 0 && !watch->was_calm;
    return 1;
}

/* Of a calm thread, which waits, all but a moment of CPU time was this wait's;
 * of another, CPU time may be due from before. */
int jp_clock_real_rest_sig(struct jp_slot *slot, struct jp_real *real)
{
    struct jp_watch *watch = &slot->watch;
    const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
    const uint64_t cpu = jp_sys_clock_sig(jp_clock_of_thread_sig(slot->tid));
    const uint64_t least = watch->calm ? 0 : JP_CLOCK_REST_NS;
    int64_t ran = cpu > slot->cpu_ns ? (int64_t)(cpu - slot->cpu_ns) : 0;
    if ((!watch->calm && !jp_budget_lowered_sig(&slot->budget)) ||
        watch->given_ns == 0 || now <= watch->given_ns + least)
        return 0;
    const uint64_t rest = now - watch->given_ns;
    if (!watch->calm)
        ran = ran + watch->due_ns > 0 ? ran + watch->due_ns : 0;
    *real = (struct jp_real){.running = min_sig((uint64_t)ran, rest)};
    *(watch->waits ? &real->before : &real->ready) = rest - real->running;
    watch->given_ns = 0;
    watch->calm = watch->was_calm = 0;
    return 1;
}

void jp_clock_real_pace_sig(struct jp_slot *slot)
{
    struct jp_watch *watch = &slot->watch;
    if (watch->calm || watch->given_ns == 0)
        return;
    stratum_sig(slot, watch->begin_ns, slot->budget.period_ns);
    set_moment_sig(slot);
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
    struct jp_watch *watch = &slot->watch;
    if (watch->calm && !has_waker_sig(slot)) {
        watch->calm = 0;
        stratum_sig(slot, watch->begin_ns, slot->budget.period_ns);
    }
    if (watch->calm)
        jp_clock_set_timer_sig(slot->waker, RUNS_NS, 0);
    else if (watch->was_calm)
        jp_clock_set_timer_sig(slot->waker, 0, 0);
    set_moment_sig(slot);
    /* What our own handler used is not the thread's, nor are its waits. */
    watch->switches = switches_sig();
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    watch->ours_ns = cpu - slot->cpu_ns;
    slot->cpu_ns = cpu;
}
