/* SPDX-License-Identifier: MIT
 *
 * The clock that interrupts the threads: which it is, and arming it.  What
 * each kind does is in clock_timer, clock_perf and clock_itimer.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_H
#define JP_CLOCK_H

#include <stdint.h>

struct jp_slot;

/* What the kernel refused a slot, in its `refused`. */
#define JP_REFUSED_PERF 0x1U
#define JP_REFUSED_TIMER 0x2U

/* With a period that is longer than asked for, what is left of it when the clock
 * stops is written from this length on. */
#define JP_CLOCK_REST_NS 1000000U

/* Sets the clock and its signal (jp_process.clock, .signal) by the flags and
 * by what the kernel allows. */
void jp_clock_choose_sig(void);

/* Whether the clock in use counts CPU time, not real time. */
int jp_clock_is_cpu_sig(void);

/* Whether each thread has a clock of its own that counts its CPU time. */
int jp_clock_is_thread_cpu_sig(void);

/* Arms the slot with the clock, or, where that is refused, with what is left;
 * or disarms it.  Does nothing when that is done already, or being done by
 * another thread. */
void jp_clock_arm_sig(struct jp_slot *slot);
void jp_clock_disarm_sig(struct jp_slot *slot);

/* Keeps others from arming, disarming and ending a live slot until it is
 * released; returns whether it was had.  The one who holds it may stop its
 * clock, and may then free it instead. */
int jp_clock_hold_sig(struct jp_slot *slot);
void jp_clock_release_sig(struct jp_slot *slot);
void jp_clock_stop_held_sig(struct jp_slot *slot);

/* To be called in a thread whose CPU timer has just run out: the perf clock
 * takes its place where that is the clock.  So a thread that lives for less
 * than a tick, and one that waits, cost no more than a timer.  Returns the
 * weight of the signal, which would be weight_ns otherwise. */
uint64_t jp_clock_promote_sig(struct jp_slot *slot, uint64_t weight_ns);

/* Sets the calling thread's clock to the period of its budget. */
void jp_clock_pace_sig(struct jp_slot *slot);

/* What the thread did before it had a slot, or before its clock was stopped
 * while its period was longer than asked for, in ns, once. */
uint64_t jp_clock_debt_sig(struct jp_slot *slot);

/* What the process's slow timer (adopt.c) stands for in the calling thread:
 * its CPU time that no clock of its own has seen, in ns. */
uint64_t jp_clock_unseen_sig(struct jp_slot *slot);

/* To be called before a profile starts when the kernel has refused the
 * process's slow timer: threads would be refused theirs as well.  Where CPU
 * time is counted, and no thread is to have a perf event, one timer for the
 * whole process, which takes no place among the pending signals, counts it. */
void jp_clock_share_sig(void);

/* Makes a slot that nobody arms any more, for the end of its thread.  Its
 * last signals have come when this returns. */
void jp_clock_end_sig(struct jp_slot *slot);

/* Arms, or disarms, all live slots. */
void jp_clock_all_sig(int arm);

/* Has the clock send another signal from now on.  The program needs the one
 * that it used. */
void jp_clock_move_sig(int signal);

/* JP_FIRST: has the clock's signal sent once with the value for START, after
 * that much CPU time of the process (JP_REALTIME: of real time). */
void jp_clock_first_sig(void);

#endif
