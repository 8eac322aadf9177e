/* SPDX-License-Identifier: MIT
 *
 * The strata of a thread's real time: how long each is, and the random moment
 * at which it is sampled.
 * Runs in: handler. */
#ifndef JP_STRATA_H
#define JP_STRATA_H

#include <stdint.h>

struct jp_found;
struct jp_thread;
struct jp_watch;

/* The longest stratum, in ns. */
#define JP_STRATUM_MAX_NS (UINT64_C(1) << 32)

/* CPU time after which a parked thread counts as running again: more than what
 * the end of the handler and the return into the call take. */
#define JP_STRATA_RUNS_NS 1000000U

/* Periods of CPU time after which the stratum of a parked thread ends, also
 * where it is not known when its wait did: the rest may last seconds, and a
 * draw from it would give them to either. */
#define JP_STRATA_RUN_PERIODS 8U

/* A wait that is found by a signal later than this may be over. */
#define JP_STRATA_PROMPT_NS 1000000U

/* Begins the thread's next stratum, of about `length` ns, where the samples so
 * far cover its time up to `begin` (CLOCK_MONOTONIC, ns).  memoryless: the time
 * until the moment is drawn from the exponential distribution. */
void jp_strata_begin_sig(struct jp_thread *thread, uint64_t begin,
                         uint64_t length, int memoryless);

/* Whether the thread's moments are memoryless at `now` (exponentially
 * distributed), since it was found in a queue a short time ago. */
int jp_strata_memoryless_sig(const struct jp_thread *thread, uint64_t now);

/* The time (CLOCK_MONOTONIC, ns) up to which the thread's samples depend on a
 * random draw.  What is known of later time is known without one. */
uint64_t jp_strata_drawn_sig(const struct jp_thread *thread);

/* Where the stratum ends whose signal was handled at `now`. */
uint64_t jp_strata_end_sig(const struct jp_thread *thread, uint64_t now);

/* Until when the samples' time must reach if the thread ends at `now`.  A
 * parked thread, one with a lengthened period, and one to which its last signal
 * has not come for a period, is given all of its time.
 * Another one is given what a moment in a long stratum has left over, up to
 * that stratum's end at most; a stratum of one period belongs to its moment,
 * even if the thread does not live to see it.  gone: the thread ended some
 * time ago, nobody knows when; it is given what is surely its own. */
uint64_t jp_strata_reach_sig(const struct jp_thread *thread, uint64_t now,
                             int gone);

/* Told that the thread ends at `now`. */
void jp_strata_ended_sig(const struct jp_thread *thread, uint64_t now);

/* Whether the thread is younger than threads of this process get that have
 * ended lately, and may be about to compute and end: then none of its strata is
 * long. */
int jp_strata_young_sig(const struct jp_thread *thread, uint64_t now);

/* Whether the thread may end in one of its next waits, as others have lately:
 * what it does after a long wait and before its end is seen only if the strata
 * of that wait are short. */
int jp_strata_passing_sig(const struct jp_thread *thread, uint64_t now);

/* Sets the thread's timer for the last time, before a filter of the program's
 * forbids it: the timer goes on period by period. */
void jp_strata_fence_sig(struct jp_thread *thread);

/* Called at a signal of the thread's timer, handled at `now`.  If the timer
 * goes on by itself, makes the stratum's moment the one at which the timer ran
 * out, unless the stratum is to be sampled later.  Returns whether it is: the
 * signal may then say what the timer on the CPU clock would, which cannot be
 * set any more either, that a parked thread runs again. */
int jp_strata_follow_sig(struct jp_thread *thread, uint64_t now);

/* Told that such a signal found the thread as said, and is no sample: the next
 * one is compared with this. */
void jp_strata_pass_sig(struct jp_thread *thread, const struct jp_found *found);

/* Makes of what was found since the last signal what it is since the last
 * sample, where signals that were none have come between. */
void jp_strata_since_sample_sig(struct jp_thread *thread);

/* The part of a gap by which the handler's budget grows.  Threads that blocked
 * had time left over; all of them together are allowed as much as one thread
 * would be.  For a thread that did not block, only its CPU time counts: it was
 * kept waiting for a CPU, and the handler keeps it longer.  Where the timer
 * goes on by itself, each of its signals counts. */
uint64_t jp_strata_counted_sig(const struct jp_watch *watch, uint64_t gap);

#endif
