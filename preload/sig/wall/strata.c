/* SPDX-License-Identifier: MIT
 *
 * The strata of a thread's real time: how long each is, and the random moment
 * at which it is sampled.
 * Runs in: handler. */
#include "strata.h"

#include <stdatomic.h>
#include <sys/syscall.h>

#include "sig/timers/timer.h"
#include "sig/timers/left.h"
#include "sig/os/filter.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"

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
 * twice as old as it got, but for YOUNG_NS at most.  (What a thread computes at
 * the end of its life, having been in a long stratum, is known by its CPU time
 * alone, if no signal comes any more: on a busy machine, where it has to wait
 * for a CPU besides, most of that went to the wait before.) */
#define RECENT_NS (60 * JP_NS)
#define YOUNG_NS JP_NS

/* How old the threads got that ended lately: the oldest, but an eighth less for
 * each that has ended since; and when the last one ended. */
static _Atomic uint64_t life_ns, ended_ns;

/* The largest power of two up to `length`. */
static uint64_t cell_sig(uint64_t length)
{
    return UINT64_C(1) << (63 - __builtin_clzll(length));
}

/* One of the numbers below `count`, another one for each `index` below it: what
 * place the index has in a random order that follows from `seed`. */
static uint32_t place_sig(uint64_t seed, uint32_t index, uint32_t count)
{
    const uint64_t mine = jp_clock_hash_sig(seed + index);
    uint32_t place = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t other = jp_clock_hash_sig(seed + i);
        place += other < mine || (other == mine && i < index);
    }
    return place;
}

/* The random point, in the cell that ends at `end`, that the threads of a group
 * share.  The cell has as many parts as there are groups, and in random order
 * each group has a part of its own: threads that change their waits together
 * are then sampled all over the cell. */
static uint64_t point_sig(const struct jp_thread *thread, uint64_t end,
                          uint64_t cell)
{
    const uint32_t index = jp_thread_index_sig(thread);
    const uint32_t used = jp_threads_used_sig();
    const uint32_t all = (used > index ? used - 1 : index) / TOGETHER + 1;
    const uint32_t group = index % all;
    const uint32_t groups = all < SPREAD ? all : SPREAD;
    const uint64_t of = (uint64_t)jp_owner->pid << 32 | group / groups;
    /* (An end has zeros where its cell's length has its bit and below.) */
    const uint64_t seed =
        jp_clock_hash_sig(of ^ jp_clock_hash_sig(end + cell / 2));
    const uint64_t part = cell / groups;
    return end - cell + place_sig(seed, group % groups, groups) * part +
           jp_clock_hash_sig(~seed - group) % part;
}

/* Begins a stratum of about `length` for a parked thread.  For each power of
 * two, time is cut into cells of that length, and each cell has a random point
 * that the threads of a group share.  The stratum ends with a cell.  If its own
 * random moment falls into that cell, the cell's point takes its place.  So the
 * moment is equally likely anywhere in the stratum, but mostly the same for
 * many threads. */
static void shared_sig(struct jp_thread *thread, uint64_t begin,
                       uint64_t length)
{
    struct jp_watch *watch = &thread->clock.watch;
    const uint64_t cell = cell_sig(length);
    uint64_t end = (begin / cell + 1) * cell;
    if (end - begin < cell / 2 && cell < JP_STRATUM_MAX_NS)
        end += cell;
    const uint64_t point = point_sig(thread, end, cell);
    const uint64_t own = begin + jp_clock_random_sig(thread->tid, end - begin);
    watch->end_ns = end;
    watch->moment_ns = point > begin && own >= end - cell ? point : own;
}

/* For how long, beyond its own time, the handler has kept the thread where the
 * signal found it: the thread lost its CPU there, on a busy machine. */
static uint64_t kept_sig(const struct jp_watch *watch, uint64_t now)
{
    const uint64_t known = watch->found.now + watch->ours_ns;
    return now > known ? now - known : 0;
}

/* The moment is as likely in each instant from `from` on, so it says nothing
 * that it has not come yet.  The samples' weights add up to the time behind
 * them in the long run only: each makes up for a part of what those before the
 * last one gave too little or too much.  kept: as kept_sig has it; this is
 * known, and made up for at once. */
static void memoryless_sig(struct jp_watch *watch, uint32_t salt, uint64_t from,
                           uint64_t length, uint64_t kept)
{
    const int64_t most = (int64_t)(length - length / 8);
    int64_t pull = watch->behind_ns / PULL;
    if (pull > most)
        pull = most;
    if (pull < -most)
        pull = -most;
    watch->behind_ns = (int64_t)(from - watch->begin_ns - kept);
    /* While the handler runs there is no moment, and the thread stays where it
     * is: for as long as last time, about. */
    watch->end_ns = watch->begin_ns + watch->ours_ns + kept +
                    (uint64_t)((int64_t)length + pull);
    watch->moment_ns = from + jp_clock_exponential_sig(salt, length);
}

void jp_strata_begin_sig(struct jp_thread *thread, uint64_t begin,
                         uint64_t length, int memoryless)
{
    struct jp_watch *watch = &thread->clock.watch;
    const int lowered = jp_budget_lowered_sig(&thread->clock.budget);
    const int was_memoryless = watch->memoryless;
    uint64_t from = begin, kept = 0;
    watch->begin_ns = begin;
    watch->memoryless = memoryless && !watch->parked;
    if (watch->parked) {
        shared_sig(thread, begin, length);
        return;
    }
    if (was_memoryless || watch->memoryless) {
        /* The samples' time is not the clock's. */
        const uint64_t now = jp_sys_clock_sig(CLOCK_MONOTONIC);
        from =
            begin > now && !(was_memoryless && watch->memoryless) ? begin : now;
        if (from == now)
            kept = kept_sig(watch, now);
    }
    if (watch->memoryless) {
        if (!was_memoryless)
            watch->behind_ns = 0;
        memoryless_sig(watch, thread->tid, from, length, kept);
        return;
    }
    watch->end_ns = from + length;
    watch->moment_ns = from + jp_clock_random_sig(thread->tid, length);
    if (lowered)
        watch->moment_ns += length / 2;
}

int jp_strata_memoryless_sig(const struct jp_thread *thread, uint64_t now)
{
    const struct jp_budget *budget = &thread->clock.budget;
    return now < thread->clock.watch.queued_ns &&
           thread->clock.watch.fence_ns == 0 &&
           (!jp_budget_lowered_sig(budget) ||
            budget->period_ns <= MEMORYLESS_MAX_NS);
}

uint64_t jp_strata_drawn_sig(const struct jp_thread *thread)
{
    const struct jp_watch *watch = &thread->clock.watch;
    return watch->memoryless ? watch->moment_ns : watch->end_ns;
}

uint64_t jp_strata_end_sig(const struct jp_thread *thread, uint64_t now)
{
    const struct jp_watch *watch = &thread->clock.watch;
    const int lowered =
        !watch->parked && jp_budget_lowered_sig(&thread->clock.budget);
    if (watch->memoryless)
        return watch->end_ns +
               (now > watch->moment_ns ? now - watch->moment_ns : 0);
    return lowered || now > watch->end_ns ? now : watch->end_ns;
}

uint64_t jp_strata_reach_sig(const struct jp_thread *thread, uint64_t now,
                             int gone)
{
    const struct jp_watch *watch = &thread->clock.watch;
    /* (Where the profile has ended before, no signal is to come.) */
    const int withheld =
        atomic_load(&jp_process.ended) == JP_ENDED_NOT &&
        now > watch->moment_ns + thread->clock.budget.period_ns;
    if (!gone &&
        (watch->parked || withheld ||
         (!watch->memoryless && jp_budget_lowered_sig(&thread->clock.budget))))
        return now;
    return now < watch->begin_ns ? now : watch->begin_ns;
}

void jp_strata_ended_sig(const struct jp_thread *thread, uint64_t now)
{
    const uint64_t life = now - thread->clock.watch.armed_ns;
    const uint64_t known = atomic_load(&life_ns);
    const uint64_t less = known - known / 8;
    atomic_store(&life_ns, life > less ? life : less);
    atomic_store(&ended_ns, now);
}

int jp_strata_young_sig(const struct jp_thread *thread, uint64_t now)
{
    const uint64_t age = now - thread->clock.watch.armed_ns;
    return age < YOUNG_NS && age < 2 * atomic_load(&life_ns) &&
           now < atomic_load(&ended_ns) + RECENT_NS;
}

int jp_strata_passing_sig(const struct jp_thread *thread, uint64_t now)
{
    return thread->tid != jp_owner->pid &&
           now < atomic_load(&ended_ns) + RECENT_NS &&
           atomic_load(&ended_ns) != 0;
}

/* (A random part of the sampling period, five sixths and more: with the period
 * itself, or a simple part of it, a thread with a rhythm of as much would be
 * found in the same place each time.  Strata stay a period long, and the
 * signals that are too many are no samples.) */
void jp_strata_fence_sig(struct jp_thread *thread)
{
    struct jp_watch *watch = &thread->clock.watch;
    const uint64_t strata = thread->clock.budget.period_ns;
    const uint64_t period =
        strata - strata / 32 - jp_clock_random_sig(~thread->tid, strata / 8);
    const uint64_t first = jp_clock_random_sig(thread->tid, period);
    if (thread->clock.timer < 0)
        return;
    watch->fence_period_ns = period;
    watch->fence_ns = jp_sys_clock_sig(CLOCK_MONOTONIC) + first;
    jp_clock_set_timer_last_sig(thread->clock.timer, first, period);
}

int jp_strata_follow_sig(struct jp_thread *thread, uint64_t now)
{
    struct jp_watch *watch = &thread->clock.watch;
    const int later =
        watch->parked || jp_budget_lowered_sig(&thread->clock.budget);
    /* The kernel may have refused the filter. */
    if (watch->fence_ns != 0 && jp_filter_number_sig(SYS_timer_settime) == 0)
        watch->fence_ns = 0;
    if (watch->fence_ns == 0 || now < watch->fence_ns)
        return 0;
    const uint64_t ran_out =
        now - (now - watch->fence_ns) % watch->fence_period_ns;
    if (ran_out >= (later ? watch->moment_ns : watch->begin_ns))
        watch->moment_ns = ran_out;
    return later && now < watch->moment_ns;
}

void jp_strata_pass_sig(struct jp_thread *thread, const struct jp_found *found)
{
    struct jp_watch *watch = &thread->clock.watch;
    watch->passed += found->blocks;
    watch->moved |= !found->same;
    watch->waits = (uint8_t)found->waits;
    watch->found_ns = found->now;
    watch->ours_ns = 0;
    watch->late = watch->fence_ns != 0 &&
                  (found->now - watch->fence_ns) % watch->fence_period_ns >
                      JP_STRATA_PROMPT_NS;
    thread->clock.cpu_ns = found->cpu;
}

void jp_strata_since_sample_sig(struct jp_thread *thread)
{
    const struct jp_watch *watch = &thread->clock.watch;
    struct jp_found *found = &thread->clock.watch.found;
    found->same = found->same && !watch->moved;
    if (found->blocks != JP_LEFT_UNKNOWN)
        found->blocks += watch->passed;
}

uint64_t jp_strata_counted_sig(const struct jp_watch *watch, uint64_t gap)
{
    const struct jp_found *found = &watch->found;
    const uint64_t threads = jp_threads_taken_sig();
    if (watch->fence_ns != 0 && gap > watch->fence_period_ns)
        gap = watch->fence_period_ns;
    const uint64_t part = threads > 1 ? gap / threads : gap;
    return found->blocks == 0 || found->used > part ? found->used : part;
}
