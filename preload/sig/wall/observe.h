/* SPDX-License-Identifier: MIT
 *
 * The first stage of the clock of real time: reads what the kernel, the thread
 * and its process tell at a signal.  Of the stages, this one alone makes system
 * calls and reads and writes shared memory.  It writes `seen`.
 * Runs in: handler. */
#ifndef JP_OBSERVE_H
#define JP_OBSERVE_H

#include <stdint.h>
#include <ucontext.h>

#include "given.h"
#include "sig/state/thread.h"

/* Reads what is read at each signal: fills *seen but for the fields of the
 * functions below. */
void jp_observe_sig(struct jp_thread *thread, const ucontext_t *context,
                    struct jp_observation *seen);

/* Asks whether the process has a tracer. */
void jp_observe_tracer_sig(struct jp_observation *seen);

/* Reads the call in which the thread waits, and notes that it waits there. */
void jp_observe_wait_sig(const struct jp_thread *thread,
                         const ucontext_t *context,
                         struct jp_observation *seen);

/* Reads how long the thread has waited for a CPU. */
void jp_observe_delay_sig(struct jp_observation *seen);

/* The system call at which a thread was interrupted: fills waited, after and
 * only_waits. */
struct jp_wall_call jp_observe_call_sig(const ucontext_t *context);

/* The figures that the other stages are handed in. */
struct jp_given jp_observe_given_sig(const struct jp_thread *thread);
struct jp_draw jp_observe_draw_sig(const struct jp_thread *thread,
                                   uint32_t salt);

/* Whether the thread's timer could be set, as the kernel has refused the filter
 * that was to forbid it. */
int jp_observe_lifted_sig(const struct jp_thread *thread);

/* Remembers that this signal took a sample: the CPU time is covered up to here.
 * late_ns: so long, at most, the thread lacked a CPU for this look: little
 * where that came in time, but a long wait has many. */
void jp_observe_sampled_sig(struct jp_thread *thread,
                            const struct jp_look *look, uint64_t late_ns);

/* Remembers the figures of a signal that took none. */
void jp_observe_skipped_sig(struct jp_thread *thread,
                            const struct jp_look *look);

/* Reads what the next signal is compared with, at the end of a signal that took
 * a sample: the handler's CPU time and switches are not the thread's.
 * begins: its strata have just become long. */
void jp_observe_done_sig(struct jp_thread *thread, int begins);

/* Reads what is needed at the end of the thread or of its profile.  Another
 * thread may call it. */
void jp_observe_end_sig(const struct jp_thread *thread, struct jp_end *end);

/* Remembers how old a thread of the process got that ends at now_ns. */
void jp_observe_ended_sig(const struct jp_thread *thread, uint64_t now_ns);

#endif
