/* SPDX-License-Identifier: MIT
 *
 * The process's slow timer: ten signals a second of CPU time, so that a
 * process that waits pays nothing.  It interrupts whoever runs, which finds
 * threads that nobody announced (adopt.h) and stands in for the timers that
 * threads are refused.
 * Runs in: handler, any thread. */
#ifndef JP_PROCESS_TIMER_H
#define JP_PROCESS_TIMER_H

#include <signal.h>

#define JP_PROCESS_TIMER_NS 100000000U /* its period, of CPU time */

/* Sets the timer, or deletes it.  Returns 0 or -errno. */
int jp_process_timer_run_sig(int on);

/* Whether the timer is set. */
int jp_process_timer_runs_sig(void);

/* Whether a timer's signal carries this timer's value. */
int jp_process_timer_is_sig(const siginfo_t *info);

/* A filter is about to come that forbids new threads a timer: this one is set
 * to the sampling period, past the filters known, which the kernel does not
 * have yet. */
void jp_process_timer_hasten_sig(void);

/* Whether the timer has the sampling period. */
int jp_process_timer_is_hastened_sig(void);

/* Forgets the timer, as a forked child does, which has none. */
void jp_process_timer_reset_sig(void);

#endif
