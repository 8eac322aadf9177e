/* SPDX-License-Identifier: MIT
 *
 * One sample, from the moment that the handler knows what a signal stands for
 * to the record in the log: the stack is walked, the record written, and then
 * what the reader needs to understand it is brought up to date.
 * Runs in: handler, any thread. */
#ifndef JP_SAMPLING_H
#define JP_SAMPLING_H

#include <stdint.h>
#include <ucontext.h>

#include "jp_log.h"

struct jp_budget;
struct jp_clock_kind;
struct jp_due;
struct jp_buffer;
struct jp_thread;

/* Samples the calling thread, which `record` is of, where `context` was
 * interrupted; weight_ns: the time that the sample stands for.  A thread that
 * is in the middle of a sample is not sampled: the next sample has its time,
 * or the time is counted as lost. */
void jp_sampling_take_sig(struct jp_thread *thread, enum jp_event event,
                          uint64_t weight_ns, const ucontext_t *context);

/* Takes the samples of all that a clock's signal stands for; a walk that was
 * made for it (jp_sampling_same_sig) and that none of them is of is forgotten.
 * The caller has set the record's `busy`. */
void jp_sampling_take_due_sig(struct jp_thread *thread,
                              const struct jp_due *due,
                              const ucontext_t *context);

/* Walks the stack, for the next sample to write.  Returns 1 when it is that of
 * the last sample, but for what jprof's hooks are about (a call that is made
 * again may be another function of theirs), 0 when it is not, and -1 when there
 * is none to compare it with: nothing was walked. */
int jp_sampling_same_sig(struct jp_thread *thread, const ucontext_t *context,
                         uint64_t now_ns);

/* Writes one last sample for time that no sample stands for yet: in real time,
 * what a waiting thread was left alone for; by the process's one timer, the
 * time of ticks that did not come.  To be called when the record's timer is
 * gone, because its thread or the profile ends. */
void jp_sampling_flush_time_sig(struct jp_thread *thread);

/* Writes a sample of the CPU time of the calling thread that no delivered
 * signal covered: of its own timer or, where it was refused one, of the
 * process's slow timer.  source: what the record was armed with, or NULL.  To
 * be called at the thread's end. */
void jp_sampling_missed_ticks_sig(struct jp_thread *thread,
                                  const struct jp_clock_kind *source);

/* The record's buffer; it gets one if it has none.  Several threads may do
 * this at once.  NULL: there is no memory. */
struct jp_buffer *jp_sampling_ensure_buffer_sig(struct jp_thread *thread);

/* Writes the sample that a buffer keeps from the time before there was a
 * log. */
void jp_sampling_flush_sig(struct jp_buffer *buffer);

/* Counts a sample that was not taken, under a counter of the header (enum
 * jp_counter), and its time. */
void jp_sampling_lose_sig(unsigned counter, uint64_t weight_ns);

/* Counts a sample that was taken at a longer period than was asked for. */
void jp_sampling_lowered_sig(const struct jp_budget *budget,
                             uint64_t weight_ns);

#endif
