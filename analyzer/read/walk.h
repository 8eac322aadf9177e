/* SPDX-License-Identifier: MIT
 *
 * The samples of a run in order of time, or of each thread, read from the log
 * again: memory grows with the chunks that overlap in time, not with samples.
 * Runs in: analyzer. */
#ifndef JR_WALK_H
#define JR_WALK_H

#include <stddef.h>

#include "log.h"

enum jr_walk_order {
    JR_WALK_BY_TIME,
    JR_WALK_BY_THREAD /* chunk after chunk without a merge: chunks whose
                         first sample is of one thread come together, in
                         order of time. A thread may have samples in chunks
                         of others too */
};

/* A walk from the first sample to the last, never NULL; the log stays open
 * until jr_walk_end, which frees the walk. */
struct jr_walk;
struct jr_walk *jr_walk_begin(const struct jr_log *log,
                              const struct jr_run *run,
                              enum jr_walk_order order);
void jr_walk_end(struct jr_walk *walk);

/* The same by time, of some of the run's chunks: their numbers, in ascending
 * order.  Not for a run whose samples are given. */
struct jr_walk *jr_walk_begin_some(const struct jr_log *log,
                                   const struct jr_run *run,
                                   const uint32_t *chunks, size_t count);

/* Points *samples to the next ones, which stay there until the next call, and
 * returns how many; 0: there are no more.  By time, of equal times the sample
 * whose chunk is earlier in the file comes first. */
size_t jr_walk_next(struct jr_walk *walk, const struct jr_sample **samples);

/* The number in the run of the chunk that the last ones are of; 0 where they
 * are given. */
uint32_t jr_walk_chunk(const struct jr_walk *walk);

/* Samples that jr_log_read saw and that the walk, over, did not find any more:
 * their process goes on and has overwritten them.  Of a walk over all. */
uint64_t jr_walk_gone(const struct jr_walk *walk);

#endif
