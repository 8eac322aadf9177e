/* SPDX-License-Identifier: MIT
 *
 * The fourth stage of the clock of real time: how long a thread's strata are,
 * and the random moment at which each is sampled.  Pure functions: they read
 * their arguments alone, and write `stratum`.
 * Runs in: handler. */
#ifndef JP_SCHEDULE_H
#define JP_SCHEDULE_H

#include <stdint.h>

#include "given.h"
#include "sig/state/wall.h"

/* The longest stratum, in ns. */
#define JP_SCHEDULE_MAX_NS (UINT64_C(1) << 32)

/* CPU time after which a parked thread counts as running again: more than what
 * the end of the handler and the return into the call take. */
#define JP_SCHEDULE_RUNS_NS 1000000U

/* Periods of CPU time after which the stratum of a parked thread ends, also
 * where it is not known when its wait did: the rest may last seconds, and a
 * draw from it would give them to either. */
#define JP_SCHEDULE_RUN_PERIODS 8U

/* Whether the thread's moments are memoryless at now_ns (exponentially
 * distributed), since it was found in a queue a short time ago. */
int jp_schedule_memoryless_sig(const struct jp_wall *wall,
                               const struct jp_given *given, uint64_t now_ns);

/* The length of the stratum behind the sample that `look` is, in ns. */
uint64_t jp_schedule_length_sig(const struct jp_wall *wall,
                                const struct jp_given *given,
                                const struct jp_look *look);

/* Whether the call in which the thread waits is one in which threads wait for a
 * supervisor (seccomp_unotify(2)).  The second function: this look shows that:
 * the thread has stayed in it with one voluntary switch. */
int jp_schedule_supervised_sig(const struct jp_look *look);
int jp_schedule_shows_supervised_sig(const struct jp_look *look);

/* The stratum to begin next. */
struct jp_plan {
    uint64_t begin_ns; /* the samples so far cover the thread's time until here,
                          CLOCK_MONOTONIC */
    uint64_t length_ns;
    int memoryless; /* the time until the moment is drawn from the exponential
                       distribution */
};

/* Begins the plan's stratum, of about its length. */
void jp_schedule_begin_sig(struct jp_wall *wall, const struct jp_given *given,
                           const struct jp_draw *draw,
                           const struct jp_plan *plan);

/* The same after a sample: the thread is parked from now on if the stratum is
 * longer than a period. */
void jp_schedule_next_sig(struct jp_wall *wall, const struct jp_given *given,
                          const struct jp_draw *draw,
                          const struct jp_plan *plan);

/* Has the thread be parked no longer: no timer tells when it runs. */
void jp_schedule_unpark_sig(struct jp_wall_stratum *stratum);

/* The same as the thread's clock stops. */
void jp_schedule_stop_sig(struct jp_wall_stratum *stratum);

/* The timer goes on by itself from now on, as a filter of the program's will
 * forbid to set it: fills fence_ns and fence_period_ns.  Returns the time from
 * draw->now_ns until it first expires. */
uint64_t jp_schedule_fence_sig(struct jp_wall_stratum *stratum,
                               const struct jp_given *given,
                               const struct jp_draw *period,
                               const struct jp_draw *first);

/* Called at a signal of the thread's timer, handled at now_ns.  lifted: the
 * kernel has refused the filter.  If the timer goes on by itself, makes the
 * stratum's moment the one at which the timer expired, unless the stratum is to
 * be sampled later.  Returns whether it is: the signal may then say what the
 * timer on the CPU clock would, which cannot be set any more either, that a
 * parked thread runs again. */
int jp_schedule_follow_sig(struct jp_wall_stratum *stratum, int lowered,
                           int lifted, uint64_t now_ns);

/* The time (CLOCK_MONOTONIC, ns) up to which the thread's samples depend on a
 * random draw.  What is known of later time is known without one. */
static inline uint64_t
jp_schedule_drawn_sig(const struct jp_wall_stratum *stratum)
{
    return stratum->memoryless ? stratum->moment_ns : stratum->end_ns;
}

/* Where the stratum ends whose signal was handled at now_ns. */
uint64_t jp_schedule_end_sig(const struct jp_wall_stratum *stratum, int lowered,
                             uint64_t now_ns);

/* Until when the samples' time must reach if the thread or its profile ends. A
 * parked thread, one with a lengthened period, and one to which its last signal
 * has not come for a period, is given all of its time.  Another one is given
 * the part of a long stratum that a moment has left over, up to that stratum's
 * end at most; a stratum of one period belongs to its moment, even if the
 * thread does not live to see it.  A thread that is gone is given the time that
 * is surely its own. */
uint64_t jp_schedule_reach_sig(const struct jp_wall_stratum *stratum,
                               const struct jp_given *given,
                               const struct jp_end *end);

/* The part of a gap by which the handler's budget grows.  Threads that blocked
 * had time left over; all of them together are allowed as much as one thread
 * would be.  For a thread that did not block, only its CPU time counts: it was
 * kept waiting for a CPU, and the handler keeps it longer.  Where the timer
 * goes on by itself, each of its signals counts. */
uint64_t jp_schedule_counted_sig(const struct jp_wall_stratum *stratum,
                                 const struct jp_finding *found,
                                 uint64_t threads, uint64_t gap);

/* Whether a parked thread has computed for so long that its stratum ends. */
int jp_schedule_runs_long_sig(const struct jp_wall_stratum *stratum,
                              const struct jp_finding *found,
                              uint64_t period_ns);

/* Begins the stratum of CPU time behind the current one, of period_ns. */
void jp_schedule_cpu_sig(struct jp_cpu_strata *strata, uint64_t period_ns,
                         uint64_t random);

/* A random moment of a stratum of length_ns, from its begin on, that is drawn
 * by a number of 64 random bits: 1 to length_ns. */
uint64_t jp_schedule_moment_sig(uint64_t random, uint64_t length_ns);

#endif
