/* SPDX-License-Identifier: MIT
 *
 * One sample, from the moment that the handler knows what a signal stands for
 * to the record in the log: the stack is walked, the record is written, and the
 * map is brought up to date with what a reader needs to understand it.  Weights
 * are in ns; failures are counted, not returned.
 * Runs in: handler, any thread. */
#ifndef JP_SAMPLING_H
#define JP_SAMPLING_H

#include <stdint.h>
#include <ucontext.h>

#include "jp_log.h"

struct jp_budget;
struct jp_buffer;
struct jp_clock_kind;
struct jp_pass;
struct jp_thread;

/* Samples the calling thread where `context` was interrupted; the sample stands
 * for weight_ns.  While the thread is already taking a sample, CPU time is
 * carried to its next sample, and other time is counted as lost. */
void jp_sampling_take_sig(struct jp_thread *thread, enum jp_event event,
                          uint64_t weight_ns, const ucontext_t *context);

/* Takes all samples that the pass's signal stands for (pass->due), of the stack
 * that jp_sampling_compare_sig walked or of one that is walked now.  Makes the
 * log first if there is none.  The caller has set the thread's `busy`.  Returns
 * the time that the samples stand for, in ns. */
uint64_t jp_sampling_take_due_sig(struct jp_pass *pass);

/* Walks the calling thread's stack, for the pass's samples, and compares it
 * with that of the last sample (pass->walk): they are the same also if only the
 * frames of jprof's hooks differ, as a hook may make a call again by another
 * function.  Where there is nothing to compare with, it does not walk. */
void jp_sampling_compare_sig(struct jp_pass *pass);

/* Writes one last sample for time not yet reported: in real-time mode, since
 * the last sample of a waiting thread; with ITIMER_PROF, of ticks that were
 * not delivered; and CPU time that was carried.  Called after disarming,
 * because the thread or the profile ends; another thread may call it. */
void jp_sampling_flush_time_sig(struct jp_thread *thread);

/* Reports CPU time of the calling thread, which was refused a clock, that no
 * signal of the process's slow timer covered.  Called at the thread's end. */
void jp_sampling_unseen_sig(struct jp_thread *thread);

/* Gives the thread a buffer if it has none, and returns its buffer; NULL when
 * there is no memory.  Several threads may call it for one thread at once. */
struct jp_buffer *jp_sampling_ensure_buffer_sig(struct jp_thread *thread);

/* Writes the sample that a buffer keeps since a time when there was no log. */
void jp_sampling_flush_sig(struct jp_buffer *buffer);

/* Counts a sample that was not taken, under a counter of the log's header (enum
 * jp_counter), and its weight. */
void jp_sampling_lose_sig(unsigned counter, uint64_t weight_ns);

/* Counts a sample and its weight if the budget has lengthened the period. */
void jp_sampling_lowered_sig(const struct jp_budget *budget,
                             uint64_t weight_ns);

#endif
