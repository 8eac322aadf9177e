/* SPDX-License-Identifier: MIT
 *
 * The fourth stage of the clock of real time: how long a thread's strata are,
 * and the random moment at which each is sampled.
 * Runs in: handler. */
#include "schedule.h"

#include "classify.h"
#include "heuristics.h"
#include "less.h"
#include "sig/os/sys.h"
#include "sig/timers/left.h"
#include "sig/timers/random.h"

/* The stratum of a waiting thread is the time that it has been in its wait, or
 * a PART_OF_RESTLESSth of it for a restless thread. */
#define PART_OF_RESTLESS 16U

/* So many waiting threads, or a few less, share their moments: a machine that
 * sleeps wakes once for all of them, and no more than these run at once. */
#define TOGETHER 8U

/* So many groups of them have their moments in different parts of a cell. */
#define SPREAD 64U

/* Of the time by which samples were behind the clock, or ahead of it, one
 * memoryless stratum makes up a PULLth.  The time since the last two moments is
 * left out of that: whether the thread waits in a queue now may follow from it,
 * as the last sample put it at the queue's end if it waited.  So the samples'
 * time is some two strata off the clock's (standard deviation), at any time,
 * and their weights vary by a fifth. */
#define PULL 4

/* Where the budget lengthens the period beyond this, no moments are memoryless:
 * the thread's total would be off by two periods, and who waits in a queue for
 * less than a period is hardly sampled twice there. */
#define MEMORYLESS_MAX_NS (JP_NS / 40)

/* For RECENT_NS after a thread ended, others count as young until they are
 * twice as old as it got, but for YOUNG_NS at most.  (The time that a thread
 * computes at the end of its life, having been in a long stratum, is known by
 * its CPU time alone, if no signal comes any more: on a busy machine, where it
 * has to wait for a CPU besides, most of that went to the wait before.) */
#define RECENT_NS (60 * JP_NS)
#define YOUNG_NS JP_NS

uint64_t jp_schedule_moment_sig(uint64_t random, uint64_t length_ns)
{
    return jp_random_below_sig(random, length_ns);
}

void jp_schedule_cpu_sig(struct jp_cpu_strata *strata, uint64_t period_ns,
                         uint64_t random)
{
    strata->length_ns = period_ns;
    strata->moment_ns =
        strata->end_ns + jp_schedule_moment_sig(random, period_ns);
    strata->end_ns += period_ns;
}

/* The largest power of two up to `length`. */
static uint64_t cell_sig(uint64_t length)
{
    return UINT64_C(1) << (63 - __builtin_clzll(length));
}

/* One of the numbers below `count`, another one for each `index` below it: the
 * place that the index has in a random order that follows from `seed`. */
static uint32_t place_sig(uint64_t seed, uint32_t index, uint32_t count)
{
    const uint64_t mine = jp_random_hash_sig(seed + index);
    uint32_t place = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t other = jp_random_hash_sig(seed + i);
        place += other < mine || (other == mine && i < index);
    }
    return place;
}

/* The random point, in the cell that ends at `end`, that the threads of a group
 * share.  The cell has as many parts as there are groups, and in random order
 * each group has a part of its own: threads that change their waits together
 * are then sampled all over the cell. */
static uint64_t point_sig(const struct jp_draw *draw, uint64_t end,
                          uint64_t cell)
{
    const uint32_t index = draw->index;
    const uint32_t all =
        (draw->used > index ? draw->used - 1 : index) / TOGETHER + 1;
    const uint32_t group = index % all;
    const uint32_t groups = all < SPREAD ? all : SPREAD;
    const uint64_t of = (uint64_t)draw->pid << 32 | group / groups;
    /* (An end has zeros where its cell's length has its bit and below.) */
    const uint64_t seed =
        jp_random_hash_sig(of ^ jp_random_hash_sig(end + cell / 2));
    const uint64_t part = cell / groups;
    return end - cell + place_sig(seed, group % groups, groups) * part +
           jp_random_hash_sig(~seed - group) % part;
}

/* Begins a stratum of about `length` for a parked thread.  For each power of
 * two, time is cut into cells of that length, and each cell has a random point
 * that the threads of a group share.  The stratum ends with a cell.  If its own
 * random moment falls into that cell, the cell's point takes its place.  So the
 * moment is equally likely anywhere in the stratum, but mostly the same for
 * many threads. */
static void shared_sig(struct jp_wall_stratum *stratum,
                       const struct jp_draw *draw, uint64_t begin,
                       uint64_t length)
{
    const uint64_t cell = cell_sig(length);
    uint64_t end = (begin / cell + 1) * cell;
    if (end - begin < cell / 2 && cell < JP_SCHEDULE_MAX_NS)
        end += cell;
    const uint64_t point = point_sig(draw, end, cell);
    const uint64_t own =
        begin + jp_schedule_moment_sig(draw->random, end - begin);
    stratum->end_ns = end;
    const int together =
        JP_HEURISTIC(TOGETHER) && point > begin && own >= end - cell;
    stratum->moment_ns = together ? point : own;
}

/* For how long, beyond its own time, the handler has kept the thread where the
 * signal found it: the thread lost its CPU there, on a busy machine. */
static uint64_t kept_sig(const struct jp_wall_seen *seen, uint64_t now)
{
    const uint64_t known = seen->at_ns + seen->ours_ns;
    return now > known ? now - known : 0;
}

/* The moment is as likely in each instant from `from` on, so it says nothing
 * that it has not come yet.  The samples' weights add up to the time behind
 * them in the long run only: each makes up for a part of the time that those
 * before the last one gave too little or too much.  kept: as kept_sig has it;
 * this is known, and made up for at once. */
static void memoryless_sig(struct jp_wall *wall, const struct jp_draw *draw,
                           uint64_t from, uint64_t length, uint64_t kept)
{
    struct jp_wall_stratum *stratum = &wall->stratum;
    const int64_t most = (int64_t)(length - length / 8);
    int64_t pull = JP_HEURISTIC(PULL) ? stratum->behind_ns / PULL : 0;
    if (pull > most)
        pull = most;
    if (pull < -most)
        pull = -most;
    stratum->behind_ns = (int64_t)(from - stratum->begin_ns - kept);
    /* While the handler runs there is no moment, and the thread stays where it
     * is: for as long as last time, about. */
    stratum->end_ns = stratum->begin_ns + wall->seen.ours_ns + kept +
                      (uint64_t)((int64_t)length + pull);
    stratum->moment_ns = from + jp_random_exponential_sig(draw->random, length);
}

void jp_schedule_begin_sig(struct jp_wall *wall, const struct jp_given *given,
                           const struct jp_draw *draw,
                           const struct jp_plan *plan)
{
    struct jp_wall_stratum *stratum = &wall->stratum;
    const uint64_t now = draw->now_ns, length = plan->length_ns;
    const int was_memoryless = stratum->memoryless;
    uint64_t from = plan->begin_ns, kept = 0;
    stratum->begin_ns = plan->begin_ns;
    stratum->memoryless = plan->memoryless && !stratum->parked;
    if (stratum->parked) {
        shared_sig(stratum, draw, plan->begin_ns, length);
        return;
    }
    if (was_memoryless || stratum->memoryless) {
        /* The samples' time is not the clock's. */
        if (from <= now || (was_memoryless && stratum->memoryless))
            from = now;
        if (from == now)
            kept = kept_sig(&wall->seen, now);
    }
    if (stratum->memoryless) {
        if (!was_memoryless)
            stratum->behind_ns = 0;
        memoryless_sig(wall, draw, from, length, kept);
        return;
    }
    stratum->end_ns = from + length;
    stratum->moment_ns = from + jp_schedule_moment_sig(draw->random, length);
    if (given->lowered)
        stratum->moment_ns += length / 2;
}

void jp_schedule_next_sig(struct jp_wall *wall, const struct jp_given *given,
                          const struct jp_draw *draw,
                          const struct jp_plan *plan)
{
    struct jp_wall_stratum *stratum = &wall->stratum;
    stratum->was_parked = stratum->parked;
    stratum->parked = plan->length_ns > given->period_ns;
    jp_schedule_begin_sig(wall, given, draw, plan);
}

void jp_schedule_unpark_sig(struct jp_wall_stratum *stratum)
{
    stratum->parked = 0;
}

void jp_schedule_stop_sig(struct jp_wall_stratum *stratum)
{
    stratum->parked = stratum->was_parked = 0;
}

int jp_schedule_memoryless_sig(const struct jp_wall *wall,
                               const struct jp_given *given, uint64_t now_ns)
{
    return JP_HEURISTIC(MEMORYLESS) && now_ns < wall->wait.queued_ns &&
           wall->stratum.fence_ns == 0 &&
           (!given->lowered || given->period_ns <= MEMORYLESS_MAX_NS);
}

/* Whether the thread is younger than threads of this process get that have
 * ended lately, and may be about to compute and end: then none of its strata is
 * long. */
static int is_young_sig(const struct jp_wall_stratum *stratum,
                        const struct jp_given *given, uint64_t now)
{
    const uint64_t age = now - stratum->armed_ns;
    return JP_HEURISTIC(YOUNG) && age < YOUNG_NS && age < 2 * given->life_ns &&
           now < given->ended_ns + RECENT_NS;
}

/* Whether the thread may end in one of its next waits, as others have lately:
 * the time between a long wait and its end is seen only if the strata of that
 * wait are short. */
static int is_passing_sig(const struct jp_given *given, uint64_t now)
{
    return JP_HEURISTIC(PASSING) && !given->is_main &&
           now < given->ended_ns + RECENT_NS && given->ended_ns != 0;
}

int jp_schedule_shows_supervised_sig(const struct jp_look *look)
{
    return look->seen.call.rare && look->found.same && look->found.blocks == 1;
}

int jp_schedule_supervised_sig(const struct jp_look *look)
{
    return JP_HEURISTIC(SUPERVISED) &&
           (jp_schedule_shows_supervised_sig(look) ||
            (look->seen.call.rare && look->seen.call.supervised));
}

uint64_t jp_schedule_length_sig(const struct jp_wall *wall,
                                const struct jp_given *given,
                                const struct jp_look *look)
{
    const uint64_t now = look->seen.now_ns;
    const uint64_t in_it = now - wall->wait.since_ns;
    /* While signals cost too much, waiting threads get fewer of them, but for
     * those in a queue: the moments of long strata have a memory. */
    const int short_ones =
        jp_schedule_memoryless_sig(wall, given, now) || !given->lowered;
    const int restless =
        JP_HEURISTIC(RESTLESS) && short_ones && now < wall->wait.restless_ns;
    const int brief = restless || (short_ones && is_passing_sig(given, now));
    uint64_t length = brief ? in_it / PART_OF_RESTLESS : in_it;
    if (!JP_HEURISTIC(PARKED) || !look->found.same ||
        (restless && in_it < JP_CLASSIFY_WATCHED_NS) ||
        is_young_sig(&wall->stratum, given, now))
        length = 0;
    length = jp_less_sig(length, JP_SCHEDULE_MAX_NS);
    if (jp_schedule_supervised_sig(look) && length < JP_LEFT_SUPERVISED_NS)
        length = JP_LEFT_SUPERVISED_NS;
    return length > given->period_ns ? length : given->period_ns;
}

uint64_t jp_schedule_end_sig(const struct jp_wall_stratum *stratum, int lowered,
                             uint64_t now_ns)
{
    if (stratum->memoryless)
        return stratum->end_ns +
               (now_ns > stratum->moment_ns ? now_ns - stratum->moment_ns : 0);
    return (lowered && !stratum->parked) || now_ns > stratum->end_ns
               ? now_ns
               : stratum->end_ns;
}

/* (Where the profile has ended before, no signal is to come.) */
uint64_t jp_schedule_reach_sig(const struct jp_wall_stratum *stratum,
                               const struct jp_given *given,
                               const struct jp_end *end)
{
    const uint64_t now = end->now_ns;
    const int withheld =
        end->goes_on && now > stratum->moment_ns + given->period_ns;
    if (!end->gone && (stratum->parked || withheld ||
                       (!stratum->memoryless && given->lowered)))
        return now;
    return now < stratum->begin_ns ? now : stratum->begin_ns;
}

/* (A random part of the sampling period, five sixths and more: with the period
 * itself, or a simple part of it, a thread with a rhythm of as much would be
 * found in the same place each time.  Strata stay a period long, and the
 * signals that are too many are no samples.) */
uint64_t jp_schedule_fence_sig(struct jp_wall_stratum *stratum,
                               const struct jp_given *given,
                               const struct jp_draw *period,
                               const struct jp_draw *first)
{
    const uint64_t strata = given->period_ns;
    stratum->fence_period_ns =
        strata - strata / 32 - jp_random_below_sig(period->random, strata / 8);
    const uint64_t until =
        jp_random_below_sig(first->random, stratum->fence_period_ns);
    stratum->fence_ns = first->now_ns + until;
    return until;
}

int jp_schedule_follow_sig(struct jp_wall_stratum *stratum, int lowered,
                           int lifted, uint64_t now_ns)
{
    const int later = stratum->parked || lowered;
    if (lifted)
        stratum->fence_ns = 0;
    if (stratum->fence_ns == 0 || now_ns < stratum->fence_ns)
        return 0;
    const uint64_t expired =
        now_ns - (now_ns - stratum->fence_ns) % stratum->fence_period_ns;
    if (expired >= (later ? stratum->moment_ns : stratum->begin_ns))
        stratum->moment_ns = expired;
    return later && now_ns < stratum->moment_ns;
}

uint64_t jp_schedule_counted_sig(const struct jp_wall_stratum *stratum,
                                 const struct jp_finding *found,
                                 uint64_t threads, uint64_t gap)
{
    if (stratum->fence_ns != 0 && gap > stratum->fence_period_ns)
        gap = stratum->fence_period_ns;
    const uint64_t part = threads > 1 ? gap / threads : gap;
    return found->blocks == 0 || found->used_ns > part ? found->used_ns : part;
}

int jp_schedule_runs_long_sig(const struct jp_wall_stratum *stratum,
                              const struct jp_finding *found,
                              uint64_t period_ns)
{
    return JP_HEURISTIC(RUN_LONG) && stratum->fence_ns == 0 && !found->waits &&
           found->used_ns >= period_ns * JP_SCHEDULE_RUN_PERIODS;
}
