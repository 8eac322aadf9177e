/* SPDX-License-Identifier: MIT
 *
 * The process's slow timer: ten signals for each second of the process's CPU
 * time, so that a waiting process costs nothing.  Its signal comes to a thread
 * that runs.  So threads that no hook has seen are found (adopt.h), and threads
 * that were refused a timer of their own are sampled.
 * Runs in: handler, any thread. */
#ifndef JP_PROCESS_TIMER_H
#define JP_PROCESS_TIMER_H

#include <signal.h>

#define JP_PROCESS_TIMER_NS 100000000U /* its period, of CPU time */

/* Makes the timer anew (on: 1) or deletes it (0).  Returns 0 or -errno. */
int jp_process_timer_run_sig(int on);

/* Has the timer, if it is set, send another signal: jp_process.watching has
 * changed. */
void jp_process_timer_change_sig(void);

/* Whether the timer is set. */
int jp_process_timer_runs_sig(void);

/* Whether the timer is set, or was until the profile ended or paused. */
int jp_process_timer_is_allowed_sig(void);

/* Whether a signal of a timer (SI_TIMER) carries this timer's value. */
int jp_process_timer_is_sig(const siginfo_t *info);

/* Called before a filter is installed that forbids new threads a timer: sets
 * this timer to the sampling period, or, if that is no longer than the kernel's
 * tick, to run out at each tick, past the filters that jprof knows
 * (sig/os/filter.h), which the kernel does not have yet. */
void jp_process_timer_hasten_sig(void);

/* Whether the timer has the sampling period. */
int jp_process_timer_is_hastened_sig(void);

/* Forgets the timer.  Called in a forked child, which has none. */
void jp_process_timer_reset_sig(void);

#endif
