/* SPDX-License-Identifier: MIT
 *
 * The clock that interrupts the threads: which it is, and arming it.  What
 * each kind does is in its own file.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_H
#define JP_CLOCK_H

#include <stdint.h>

#include "sig/state/clock_kind.h"

struct jp_thread;

/* What the kernel refused a record, in its `refused`. */
#define JP_REFUSED_PERF 0x1U
#define JP_REFUSED_TIMER 0x2U

/* Sets the clock and its signal (jp_process.clock, .signal) by the flags and
 * by what the kernel allows. */
void jp_clock_choose_sig(void);

/* Whether each thread has a clock of its own that counts its CPU time. */
int jp_clock_is_thread_cpu_sig(void);

/* Arms the record with the clock, or, where that is refused, with what is left;
 * or disarms it.  Does nothing when that is done already, or being done by
 * another thread. */
void jp_clock_arm_sig(struct jp_thread *thread);
void jp_clock_disarm_sig(struct jp_thread *thread);

/* Keeps others from arming, disarming and ending a live record until it is
 * released; returns whether it was had.  The one who holds it may stop its
 * clock, and may then free it instead. */
int jp_clock_hold_sig(struct jp_thread *thread);
void jp_clock_release_sig(struct jp_thread *thread);
void jp_clock_stop_held_sig(struct jp_thread *thread);

/* The clock whose signal it is, or NULL. */
const struct jp_clock_kind *jp_clock_of_sig(const struct jp_signal *signal);

/* Whether a signal says by itself that it is of a clock of some thread's: it
 * may come when that has stopped. */
int jp_clock_is_value_sig(const siginfo_t *info);

/* What a signal of this kind is worth to the calling thread, whose clock goes
 * on as it should.  Returns whether it is a sample at all. */
int jp_clock_due_sig(const struct jp_clock_kind *kind, struct jp_thread *thread,
                     const struct jp_signal *signal, struct jp_due *due);

/* Sets the calling thread's clock to the period of its budget. */
void jp_clock_pace_sig(struct jp_thread *thread);

/* What the thread did before it had a record, or before its clock was stopped
 * while its period was longer than asked for, in ns, once. */
uint64_t jp_clock_take_carried_sig(struct jp_thread *thread);

/* What the process's slow timer (adopt.c) stands for in the calling thread:
 * its CPU time that no clock of its own has seen, in ns. */
uint64_t jp_clock_take_unseen_sig(struct jp_thread *thread);

/* To be called before a profile starts when the kernel has refused the
 * process's slow timer: threads would be refused theirs as well.  Where CPU
 * time is counted, and no thread is to have a perf event, one timer for the
 * whole process, which takes no place among the pending signals, counts it. */
void jp_clock_fall_back_to_itimer_sig(void);

/* Makes a record that nobody arms any more, for the end of its thread.  Its
 * last signals have come when this returns. */
void jp_clock_end_sig(struct jp_thread *thread);

/* To be called when a filter of the program's is known and not yet installed:
 * where it forbids to set timers, those of all threads are set to go on by
 * themselves. */
void jp_clock_fence_sig(void);

/* Arms, or disarms, all live records. */
void jp_clock_all_sig(int arm);

/* Has the clock send another signal from now on.  The program needs the one
 * that it used. */
void jp_clock_move_sig(int signal);

/* JP_FIRST: has the clock's signal sent once with the value for START, after
 * that much CPU time of the process (JP_REALTIME: of real time). */
void jp_clock_first_sig(void);

#endif
