/* SPDX-License-Identifier: MIT
 *
 * The third stage of the clock of real time: the time that a sample stands for.
 * Runs in: handler.
 *
 * The weights of running samples add up to the thread's CPU time in the long
 * run; the time that is added to one of them or taken from it, samples that
 * find the thread off the CPU lack or get. */
#include "account.h"

#include "classify.h"
#include "heuristics.h"
#include "less.h"
#include "schedule.h"
#include "sig/state/clock_kind.h"
#include "sig/timers/left.h"
#include "sig/timers/random.h"

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

/* Less CPU time of a parked thread's is no sample of its own. */
#define PARKED_RAN_NS 50000

static int64_t clamp_sig(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* The looks at a thread that seems still to be in its wait, but was seen to end
 * one a short while ago, have found it there only if it stays for longer: until
 * then, the CPU time that it used between them is in doubt.  The cost of the
 * looks is taken off their sum, not off each, as some cost more than others:
 * off each, the surplus of those would be the program's, and the time that the
 * others did not cost would be nobody's. */
static void doubt_sig(struct jp_wall_balance *balance, uint64_t used,
                      uint64_t cost)
{
    balance->doubt_ns += used;
    balance->doubt_cost_ns += cost;
}

/* Ends the doubt.  Returns the part of that time that becomes the program's. */
static uint64_t settle_sig(struct jp_wall_balance *balance, int same,
                           struct jp_accounted *result)
{
    const uint64_t doubt = balance->doubt_ns;
    const uint64_t cost =
        same ? doubt : jp_less_sig(balance->doubt_cost_ns, doubt);
    balance->doubt_ns = balance->doubt_cost_ns = 0;
    result->looking_ns += cost;
    return doubt - cost;
}

void jp_account_used_sig(struct jp_wall *wall, const struct jp_given *given,
                         const struct jp_look *look,
                         struct jp_accounted *result)
{
    struct jp_wall_balance *balance = &wall->balance;
    const struct jp_finding *found = &look->found;
    const uint64_t all = found->used_ns + wall->seen.ours_ns;
    const int ours = found->same || found->returns;
    const int doubted = JP_HEURISTIC(DOUBT) && found->still && !found->same;
    uint64_t due = ours ? 0 : found->used_ns;
    uint64_t cost = given->cost_ns;
    result->looking_ns = 0;
    result->learns = found->same;
    if (found->same) {
        result->learned_ns = jp_less_sig(found->used_ns, JP_CLASSIFY_CALL_NS);
        cost = jp_left_learned_sig(cost, result->learned_ns);
    }
    if (found->blocks == 0 && !ours)
        due = all;
    else if (JP_HEURISTIC(COST) && found->waited && !doubted)
        due -= jp_less_sig(due, cost);
    if (all > due)
        result->looking_ns = all - due;
    if (doubted) {
        doubt_sig(balance, due, cost);
        due = 0;
    } else {
        due += settle_sig(balance, found->same, result);
    }
    balance->balance_ns = balance->remainder_ns + balance->tail_ns;
    balance->remainder_ns += (int64_t)due;
    balance->tail_ns = wall->stratum.memoryless || !JP_HEURISTIC(TAIL)
                           ? 0
                           : (int64_t)(due / 2);
}

/* Whether a sample that found the thread in a wait stands for CPU time.  Going
 * into a call and out of it takes some, a millisecond now and then on a busy
 * virtual machine, and a moment in that time finds the thread in its wait: so
 * running samples alone may never come by the time that is due.  Chance leaves
 * more than OWED strata to a few samples of a thousand.  (A thread that stayed
 * in its wait has used nothing there.) */
static int in_call_sig(struct jp_wall_balance *balance,
                       const struct jp_finding *found, uint64_t all)
{
    if (!JP_HEURISTIC(IN_CALL) || found->same || found->returns ||
        balance->balance_ns <= OWED * (int64_t)all)
        return 0;
    balance->remainder_ns -= (int64_t)all;
    return 1;
}

/* The weight of a sample that found the thread off the CPU for `all` ns: more
 * or less by the time that running samples were given too little or too
 * much. */
static uint64_t off_cpu_sig(struct jp_wall_balance *balance, uint64_t all)
{
    const int64_t back =
        clamp_sig(balance->lent_ns, -(int64_t)all, (int64_t)all / 2);
    balance->lent_ns -= back;
    return (uint64_t)((int64_t)all - back);
}

/* Weighs a sample of a thread that did not block since the last one.  It used
 * some of the time and waited for a CPU the rest, and both are known.  A
 * stratum of one period counts as all running or all ready; the difference is
 * carried to the next.  (Not between memoryless moments: those without a wait
 * between them lie closer together than the time that a sample stands for.) */
static void divide_sig(struct jp_wall *wall, const struct jp_given *given,
                       const struct jp_finding *found, uint64_t all,
                       struct jp_due *due)
{
    struct jp_wall_balance *balance = &wall->balance;
    const uint64_t gap = found->gap_ns;
    const uint64_t used = jp_less_sig(found->used_ns + wall->seen.ours_ns, gap);
    const int one = all < given->period_ns * 3 / 2;
    balance->ready_ns += (int64_t)(gap - used);
    /* Where the samples' time was behind the clock, as after memoryless
     * moments, the share of the gap holds for the older time as well. */
    if (!one && all > gap)
        balance->ready_ns +=
            (int64_t)(((gap - used) << 20) / (gap + 1) * (all - gap) >> 20);
    uint64_t ready = balance->ready_ns > 0
                         ? jp_less_sig((uint64_t)balance->ready_ns, all)
                         : 0;
    if (one)
        ready = balance->ready_ns * 2 >= (int64_t)all ? all : 0;
    balance->ready_ns -= (int64_t)ready;
    balance->remainder_ns -= (int64_t)(all - ready);
    due->running = all - ready;
    due->ready = off_cpu_sig(balance, ready);
}

/* Weighs a sample that found the thread running and that has blocked since the
 * last one.  The weight leans to where the sum of all running samples becomes
 * the thread's CPU time.  The difference goes to samples that find it off the
 * CPU (off_cpu_sig), or to this one where there are none.  CPU time used in the
 * stratum itself does not count: that would favour long runs. */
static void running_sig(struct jp_wall_balance *balance, uint64_t all,
                        struct jp_due *due)
{
    const int64_t one = (int64_t)all, most = LENT * one;
    const int64_t room = clamp_sig(most - balance->lent_ns + one, 0, 2 * one);
    const int64_t lean = JP_HEURISTIC(LEAN) ? balance->balance_ns / LEAN : 0;
    const int64_t running = clamp_sig(one + lean, 0, room);
    const int64_t lent = balance->lent_ns + running - one;
    const int64_t ready = clamp_sig(-most - lent, 0, one);
    balance->remainder_ns -= running;
    balance->lent_ns = lent + ready;
    due->running = (uint64_t)running;
    due->ready = (uint64_t)ready;
}

/* For a signal that came long after `drawn`, the last instant that the
 * stratum's moment stands for, for want of a CPU: the thread was where it is
 * now all that time, which is not drawn but known, and counts by itself. */
static void split_sig(uint64_t period, uint64_t now, uint64_t drawn,
                      struct jp_due *due)
{
    uint64_t *part = due->ready != 0 ? &due->ready : &due->blocked;
    if (!JP_HEURISTIC(SPLIT) || now < drawn || now - drawn < period ||
        *part <= now - drawn)
        return;
    due->after = now - drawn;
    due->after_ready = part == &due->ready;
    *part -= due->after;
}

/* The uncovered time until `now` is covered from here on.  Returns it. */
static uint64_t cover_sig(struct jp_wall_balance *balance, uint64_t now)
{
    const uint64_t left = now > balance->given_ns ? now - balance->given_ns : 0;
    balance->given_ns += left;
    return left;
}

/* Weighs a sample that found the thread running after a long wait whose end is
 * not known: all time until now.  It ran as long as its CPU time says, and
 * lacked a CPU for held_ns.  In the rest it was most likely in the wait in
 * which it had been all along.  Of the remainder of the stratum nothing is
 * known yet: it ends here. */
static void waited_sig(struct jp_wall_balance *balance,
                       const struct jp_look *look, struct jp_accounted *result)
{
    const int64_t used = balance->remainder_ns;
    const uint64_t held = look->found.held_ns;
    struct jp_due *due = result->due;
    uint64_t left = cover_sig(balance, look->seen.now_ns);
    due->running = used > 0 ? jp_less_sig((uint64_t)used, left) : 0;
    left -= due->running;
    due->ready = held < HELD_NS ? 0 : jp_less_sig(held, left);
    due->before = left - due->ready;
    balance->remainder_ns -= (int64_t)due->running;
    result->begin_ns = balance->given_ns;
}

/* Gives a stratum of `all` ns, up to `end`, to the thread's state at its
 * moment. */
static void give_all_sig(struct jp_wall *wall, const struct jp_given *given,
                         const struct jp_look *look, uint64_t all,
                         struct jp_due *due)
{
    const struct jp_wall_stratum *stratum = &wall->stratum;
    struct jp_wall_balance *balance = &wall->balance;
    const struct jp_finding *found = &look->found;
    const uint64_t now = look->seen.now_ns;
    const int64_t used = balance->remainder_ns;
    if (found->blocks == 0 && !found->returns && !stratum->memoryless &&
        (!found->waits || used * 2 >= (int64_t)all)) {
        divide_sig(wall, given, found, all, due);
    } else if (found->waits && stratum->parked && now < balance->given_ns) {
        /* The rest of a long stratum is given when it is over: the thread may
         * end before that. */
        balance->given_ns = now;
        due->blocked = off_cpu_sig(balance, now - stratum->begin_ns);
    } else if (found->waits || found->returns) {
        if (in_call_sig(balance, found, all))
            due->running = all;
        else
            due->blocked = off_cpu_sig(balance, all);
    } else if (JP_HEURISTIC(LATE) && now - stratum->moment_ns > LATE_NS &&
               used < MANY * (int64_t)all) {
        due->ready = off_cpu_sig(balance, all);
    } else {
        running_sig(balance, all, due);
    }
}

/* Gives the stratum's time to the thread's state at its moment. */
static void give_sig(struct jp_wall *wall, const struct jp_given *given,
                     const struct jp_look *look, struct jp_accounted *result)
{
    const struct jp_wall_stratum *stratum = &wall->stratum;
    struct jp_wall_balance *balance = &wall->balance;
    const uint64_t drawn = jp_schedule_drawn_sig(stratum);
    const uint64_t now = look->seen.now_ns;
    const uint64_t end = jp_schedule_end_sig(stratum, given->lowered, now);
    if (stratum->parked && !look->found.waits && !look->found.returns &&
        look->found.blocks != 0) {
        waited_sig(balance, look, result);
        return;
    }
    if (stratum->begin_ns > balance->given_ns)
        result->due->before = stratum->begin_ns - balance->given_ns;
    balance->given_ns = end;
    result->begin_ns = end;
    give_all_sig(wall, given, look, end - stratum->begin_ns, result->due);
    split_sig(given->period_ns, now, drawn, result->due);
}

/* Weighs the end of a wait, after which the thread used found.used_ns of CPU
 * time and lacked a CPU for found.held_ns. */
static void end_sig(struct jp_wall_balance *balance, const struct jp_look *look,
                    struct jp_accounted *result)
{
    const uint64_t now = look->seen.now_ns, held = look->found.held_ns;
    const uint64_t since = look->found.used_ns + held;
    struct jp_due *due = result->due;
    due->before = cover_sig(balance, now - jp_less_sig(since, now));
    const uint64_t left = cover_sig(balance, now);
    due->ready = jp_less_sig(held, left);
    due->running = left - due->ready;
    balance->remainder_ns -= (int64_t)due->running;
    result->begin_ns = balance->given_ns;
}

/* Weighs a sample of a wait that goes on, and has done so for long: all time
 * until now is the wait's. */
static void stay_sig(struct jp_wall *wall, const struct jp_look *look,
                     struct jp_accounted *result)
{
    const struct jp_wall_stratum *stratum = &wall->stratum;
    const uint64_t now = look->seen.now_ns;
    result->due->blocked = cover_sig(&wall->balance, now);
    result->begin_ns = now > stratum->end_ns || stratum->memoryless
                           ? wall->balance.given_ns
                           : stratum->end_ns;
}

uint64_t jp_account_sample_sig(struct jp_wall *wall,
                               const struct jp_given *given,
                               const struct jp_look *look, uint64_t length_ns,
                               struct jp_accounted *result)
{
    const uint64_t before = wall->balance.given_ns;
    if (look->found.ends)
        end_sig(&wall->balance, look, result);
    else if (look->found.same && length_ns > given->period_ns)
        stay_sig(wall, look, result);
    else
        give_sig(wall, given, look, result);
    return wall->balance.given_ns - before;
}

uint64_t jp_account_cpu_sig(struct jp_cpu_strata *strata, uint64_t period_ns,
                            uint64_t used_ns, uint64_t random)
{
    uint64_t weight = 0;
    while (strata->moment_ns <= used_ns) {
        weight += strata->length_ns;
        /* Whole strata that passed at once, as in one long system call. */
        if (used_ns > strata->end_ns) {
            const uint64_t past = used_ns - strata->end_ns;
            const uint64_t whole = past - past % strata->length_ns;
            weight += whole;
            strata->end_ns += whole;
        }
        jp_schedule_cpu_sig(strata, period_ns, random);
        random = jp_random_hash_sig(random + 1);
    }
    return weight;
}

/* Whether a parked thread's last wait may have been followed by others. */
static int is_guessed_sig(const struct jp_wall *wall, const struct jp_end *end)
{
    if (!JP_HEURISTIC(GUESSED) || !wall->stratum.parked || !wall->wait.waits)
        return 0;
    return end->own ? jp_classify_blocks_sig(wall, end->switches, end->runs) > 1
                    : end->ran_ns > JP_CLASSIFY_SAME_NS;
}

/* Divides the rest, `left` ns.  A parked thread waited all of it but for its
 * CPU time that is in no sample, as has one with a lengthened period; the rest
 * of a long stratum is a wait's.  Short times of running are left out, and of a
 * parked thread, which may have nothing else, very short ones only. */
static void divide_rest_sig(const struct jp_wall *wall, int64_t ran,
                            uint64_t left, struct jp_due *due)
{
    const int parked = wall->stratum.parked;
    if (ran < (parked ? PARKED_RAN_NS : 0))
        ran = 0;
    due->running = jp_less_sig((uint64_t)ran, left);
    *(wall->wait.waits ? &due->before : &due->ready) = left - due->running;
    if (due->running < JP_CLOCK_FLUSH_MIN_NS && !parked)
        due->running = 0;
    if (due->ready < JP_CLOCK_FLUSH_MIN_NS)
        due->ready = 0;
}

int jp_account_rest_sig(struct jp_wall *wall, const struct jp_end *end,
                        uint64_t cost_ns, uint64_t until_ns,
                        struct jp_accounted *result)
{
    struct jp_wall_balance *balance = &wall->balance;
    const int parked = wall->stratum.parked;
    const int rest = until_ns <= wall->stratum.begin_ns;
    const uint64_t given = balance->given_ns;
    const uint64_t least = parked || rest ? 0 : JP_CLOCK_FLUSH_MIN_NS;
    result->looking_ns = 0;
    if (given == 0)
        return 0;
    /* The last look made it leave its wait, too, and get back into it. */
    const uint64_t looked =
        wall->wait.waits ? jp_less_sig(cost_ns, end->ran_ns) : 0;
    result->looking_ns = looked + balance->doubt_ns;
    balance->doubt_ns = balance->doubt_cost_ns = 0;
    balance->given_ns = 0;
    if (until_ns <= given + least)
        return 0;
    const int64_t ran =
        rest && !parked
            ? 0
            : (int64_t)end->ran_ns + balance->remainder_ns - (int64_t)looked;
    *result->due = (struct jp_due){.guessed = is_guessed_sig(wall, end)};
    divide_rest_sig(wall, ran, until_ns - given, result->due);
    return 1;
}
