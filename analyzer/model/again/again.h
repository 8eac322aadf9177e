/* SPDX-License-Identifier: MIT
 *
 * The samples of a model once more, read from the logs, for writers that need
 * each one: of a thread or of a process, in order of time.  Memory grows with
 * threads and chunks, not with samples.
 * Runs in: analyzer. */
#ifndef JR_AGAIN_H
#define JR_AGAIN_H

#include "model/model.h"

struct jr_again;

#define JR_AGAIN_MOST 131072U /* samples that are held at a time: 4 MiB */

/* Of a model with JR_NEEDS_REPLAY, which is finished and outlives it; never
 * NULL.  Threads that are asked for in the order of `sequence` (numbers of all
 * threads of the model, which outlive it too; NULL: ascending) cost least.
 * `most` samples of small threads are held at a time. */
struct jr_again *jr_again_begin(const struct jr_model *model,
                                const uint32_t *sequence, size_t most);

/* Frees it.  Returns how many samples of the threads and processes that were
 * gone through to their end were missing or too many, as the log is not what it
 * was; 0: both passes agree, in number and weight. */
uint64_t jr_again_end(struct jr_again *again);

/* Goes to the first sample of a thread, by its number in the model, or of a
 * process, with all its threads. */
void jr_again_thread(struct jr_again *again, uint32_t thread);
void jr_again_process(struct jr_again *again, uint32_t process);

/* The next sample, in order of time (those of one time as in the first pass),
 * or NULL.  It belongs to the jr_again and holds until the next call; its spot
 * is JR_NO_SPOT. */
const struct jr_seen *jr_again_next(struct jr_again *again);

#endif
