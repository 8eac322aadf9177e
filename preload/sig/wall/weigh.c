/* SPDX-License-Identifier: MIT
 *
 * What a sample of real time stands for: how much of it the thread ran, was
 * blocked, or waited for a CPU.
 * Runs in: handler.
 *
 * The weights of running samples add up to the thread's CPU time in the long
 * run; what is added to one of them or taken from it, samples that find the
 * thread off the CPU lack or get. */
#include "weigh.h"

#include "sig/timers/left.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "strata.h"

/* A thread outside a wait whose signal comes later than this was waiting for a
 * CPU.  Not so where MANY strata of CPU time are due to samples: then signals
 * are late for other reasons. */
#define LATE_NS 80000U
#define MANY 4

/* More strata of it than these are due for another reason than chance. */
#define OWED 6

/* A time without a CPU after a long wait, from which on it counts. */
#define HELD_NS 1000000U

/* Of the CPU time that samples were given too little or too much, one running
 * sample makes up a LEANth. */
#define LEAN 4

/* So many strata of it may be given too much or too little meanwhile. */
#define LENT 4

static int64_t clamp_sig(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Whether looks at a thread that seems still to be in its wait, but was seen to
 * end one a short while ago, found it there is not known before it has stayed
 * for longer: until then, the CPU time that it used between them is in doubt.
 * What the looks cost is taken off their sum, not off each, as some cost more
 * than others: off each, what those cost too much would be the program's, and
 * what the others did not cost would be nobody's. */
static void doubt_sig(struct jp_watch *watch, uint64_t used)
{
    watch->doubt_ns += used;
    watch->doubt_cost_ns += jp_left_cost_sig();
}

/* Ends the doubt.  Returns what of that time becomes the program's. */
static uint64_t settle_sig(struct jp_watch *watch, int same)
{
    const uint64_t doubt = watch->doubt_ns;
    const uint64_t cost =
        same ? doubt : jp_weigh_less_sig(watch->doubt_cost_ns, doubt);
    watch->doubt_ns = watch->doubt_cost_ns = 0;
    if (cost != 0)
        jp_count_sig(JP_COUNT_LOOKING_NS, cost);
    return doubt - cost;
}

/* Adds the CPU time since the last handler began to what samples must cover,
 * but for what jprof's signals themselves took while the thread waited. */
void jp_weigh_count_sig(struct jp_watch *watch, const struct jp_found *found)
{
    const uint64_t all = found->used + watch->ours_ns;
    const int ours = found->same || found->returns;
    const int doubted = found->still && !found->same;
    uint64_t due = ours ? 0 : found->used;
    if (found->same)
        jp_left_learn_sig(jp_weigh_less_sig(found->used, JP_WEIGH_CALL_NS));
    if (found->blocks == 0 && !ours)
        due = all;
    else if (watch->waits && !doubted)
        due -= jp_weigh_less_sig(due, jp_left_cost_sig());
    if (all > due)
        jp_count_sig(JP_COUNT_LOOKING_NS, all - due);
    if (doubted) {
        doubt_sig(watch, due);
        due = 0;
    } else {
        due += settle_sig(watch, found->same);
    }
    watch->balance_ns = watch->remainder_ns + watch->tail_ns;
    watch->remainder_ns += (int64_t)due;
    watch->tail_ns = watch->memoryless ? 0 : (int64_t)(due / 2);
}

/* Whether a sample that found the thread in a wait stands for CPU time.  Going
 * into a call and out of it takes some, a millisecond now and then on a busy
 * virtual machine, and a moment in that time finds the thread in its wait: so
 * running samples alone may never come by what is due.  Chance leaves more than
 * OWED strata to a few samples of a thousand.  (A thread that stayed in its
 * wait has used nothing there.) */
static int in_call_sig(struct jp_watch *watch, const struct jp_found *found,
                       uint64_t all)
{
    if (found->same || found->returns ||
        watch->balance_ns <= OWED * (int64_t)all)
        return 0;
    watch->remainder_ns -= (int64_t)all;
    return 1;
}

/* The weight of a sample that found the thread off the CPU for `all` ns: more
 * or less by what running samples were given too little or too much. */
static uint64_t off_cpu_sig(struct jp_watch *watch, uint64_t all)
{
    const int64_t back =
        clamp_sig(watch->lent_ns, -(int64_t)all, (int64_t)all / 2);
    watch->lent_ns -= back;
    return (uint64_t)((int64_t)all - back);
}

/* Weighs a sample of a thread that did not block since the last one.  It used
 * some of the time and waited for a CPU the rest, and both are known.  A
 * stratum of one period counts as all running or all ready; the difference is
 * carried to the next.  (Not between memoryless moments: those without a wait
 * between them lie closer together than what a sample stands for.) */
static void divide_sig(struct jp_thread *thread, const struct jp_found *found,
                       uint64_t all, struct jp_due *weight)
{
    struct jp_watch *watch = &thread->clock.watch;
    const uint64_t gap = found->now - watch->found_ns;
    const uint64_t used = jp_weigh_less_sig(found->used + watch->ours_ns, gap);
    const int one = all < thread->clock.budget.period_ns * 3 / 2;
    watch->ready_ns += (int64_t)(gap - used);
    /* Where the samples' time was behind the clock, as after memoryless
     * moments, the share of the gap holds for what is older as well. */
    if (!one && all > gap)
        watch->ready_ns +=
            (int64_t)(((gap - used) << 20) / (gap + 1) * (all - gap) >> 20);
    uint64_t ready = watch->ready_ns > 0
                         ? jp_weigh_less_sig((uint64_t)watch->ready_ns, all)
                         : 0;
    if (one)
        ready = watch->ready_ns * 2 >= (int64_t)all ? all : 0;
    watch->ready_ns -= (int64_t)ready;
    watch->remainder_ns -= (int64_t)(all - ready);
    weight->running = all - ready;
    weight->ready = off_cpu_sig(watch, ready);
}

/* Weighs a sample that found the thread running and that has blocked since the
 * last one.  The weight leans to where the sum of all running samples becomes
 * the thread's CPU time.  The difference goes to samples that find it off the
 * CPU (off_cpu_sig), or to this one where there are none.  CPU time used in the
 * stratum itself does not count: that would favour long runs. */
static void running_sig(struct jp_watch *watch, uint64_t all,
                        struct jp_due *weight)
{
    const int64_t one = (int64_t)all, most = LENT * one;
    const int64_t room = clamp_sig(most - watch->lent_ns + one, 0, 2 * one);
    const int64_t running = clamp_sig(one + watch->balance_ns / LEAN, 0, room);
    const int64_t lent = watch->lent_ns + running - one;
    const int64_t ready = clamp_sig(-most - lent, 0, one);
    watch->remainder_ns -= running;
    watch->lent_ns = lent + ready;
    weight->running = (uint64_t)running;
    weight->ready = (uint64_t)ready;
}

/* For a signal that came long after `drawn`, the last instant that the
 * stratum's moment stands for, for want of a CPU: the thread was where it is
 * now all that time, which is not drawn but known, and counts by itself. */
static void split_sig(const struct jp_thread *thread,
                      const struct jp_found *found, uint64_t drawn,
                      struct jp_due *weight)
{
    uint64_t *part = weight->ready != 0 ? &weight->ready : &weight->blocked;
    if (found->now < drawn ||
        found->now - drawn < thread->clock.budget.period_ns ||
        *part <= found->now - drawn)
        return;
    weight->after = found->now - drawn;
    weight->after_ready = part == &weight->ready;
    *part -= weight->after;
}

/* Weighs a sample that found the thread running after a long wait whose end is
 * not known: all time until now.  It ran as long as its CPU time says, and
 * lacked a CPU for held_ns.  What it waited for in the rest is most likely what
 * it had waited for all along.  Of what is left of the stratum nothing is known
 * yet: it ends here. */
static void waited_sig(struct jp_watch *watch, const struct jp_found *found,
                       struct jp_due *weight)
{
    const int64_t due = watch->remainder_ns;
    uint64_t left =
        found->now > watch->given_ns ? found->now - watch->given_ns : 0;
    weight->running = due > 0 ? jp_weigh_less_sig((uint64_t)due, left) : 0;
    left -= weight->running;
    weight->ready =
        found->held_ns < HELD_NS ? 0 : jp_weigh_less_sig(found->held_ns, left);
    weight->before = left - weight->ready;
    watch->remainder_ns -= (int64_t)weight->running;
    if (found->now > watch->given_ns)
        watch->given_ns = found->now;
    watch->end_ns = watch->given_ns;
}

/* Gives the stratum's time to what was found at its moment. */
void jp_weigh_give_sig(struct jp_thread *thread, const struct jp_found *found,
                       struct jp_due *weight)
{
    struct jp_watch *watch = &thread->clock.watch;
    const uint64_t drawn = jp_strata_drawn_sig(thread);
    const uint64_t end = jp_strata_end_sig(thread, found->now);
    const uint64_t all = end - watch->begin_ns;
    const int64_t due = watch->remainder_ns;
    if (watch->parked && !found->waits && !found->returns &&
        found->blocks != 0) {
        waited_sig(watch, found, weight);
        return;
    }
    if (watch->begin_ns > watch->given_ns)
        weight->before = watch->begin_ns - watch->given_ns;
    watch->given_ns = watch->end_ns = end;
    if (found->blocks == 0 && !found->returns && !watch->memoryless &&
        (!found->waits || due * 2 >= (int64_t)all)) {
        divide_sig(thread, found, all, weight);
    } else if (found->waits && watch->parked && found->now < end) {
        /* The rest of a long stratum is given when it is over: the thread may
         * end before that. */
        watch->given_ns = found->now;
        weight->blocked = off_cpu_sig(watch, found->now - watch->begin_ns);
    } else if (found->waits || found->returns) {
        if (in_call_sig(watch, found, all))
            weight->running = all;
        else
            weight->blocked = off_cpu_sig(watch, all);
    } else if (found->now - watch->moment_ns > LATE_NS &&
               due < MANY * (int64_t)all) {
        weight->ready = off_cpu_sig(watch, all);
    } else {
        running_sig(watch, all, weight);
    }
    split_sig(thread, found, drawn, weight);
}

void jp_weigh_end_sig(struct jp_watch *watch, const struct jp_found *found,
                      struct jp_due *weight)
{
    const uint64_t since = found->used + found->held_ns;
    const uint64_t end = found->now - jp_weigh_less_sig(since, found->now);
    if (end > watch->given_ns) {
        weight->before = end - watch->given_ns;
        watch->given_ns = end;
    }
    if (found->now > watch->given_ns) {
        const uint64_t left = found->now - watch->given_ns;
        weight->ready = jp_weigh_less_sig(found->held_ns, left);
        weight->running = left - weight->ready;
        watch->given_ns = found->now;
        watch->remainder_ns -= (int64_t)weight->running;
    }
    watch->end_ns = watch->given_ns;
}
