/* SPDX-License-Identifier: MIT
 *
 * The course of a profile: starting, pausing, clearing and saving it, and its
 * end.
 * Runs in: handler, any thread. */
#ifndef JP_CONTROL_H
#define JP_CONTROL_H

#include "jp_limits.h"

/* Carries out a command.  While another thread carries one out, the command is
 * queued, and that thread carries it out next.  Does nothing when it pauses a
 * paused profile, starts a running one or clears without a ring. */
void jp_control_sig(enum jp_control command);

/* Whether a profile that does not run can be started: not where the process
 * ends, behind a sandbox that forbids it, or where the log could not be made
 * or was cut short. */
int jp_control_may_start_sig(void);

/* Stops all clocks without a line in the map: for good, or until
 * jp_control_on_sig. */
void jp_control_off_sig(void);

/* Starts all clocks, and finds all threads. */
void jp_control_on_sig(void);

/* Called when the process ends in order: stops all clocks, writes what no
 * sample covers yet, and brings the map up to date.  Nothing starts the
 * profile again. */
void jp_control_exit_sig(void);

/* Whether the process ends: jp_control_exit_sig or jp_control_end_time_sig was
 * called. */
int jp_control_has_ended_sig(void);

/* Called when the process ends by _exit, after which nothing starts again:
 * stops all clocks, and writes the time that no sample covers yet. */
void jp_control_end_time_sig(void);

/* Stops the threads' clocks and writes their time that no sample covers yet.
 * The profile goes on: jp_clock_all_sig(1) starts the clocks again. */
void jp_control_flush_time_sig(void);

/* Called before something after which files or memory may be out of reach (a
 * seccomp filter, a chroot, another user).  If the profile runs or has a log:
 * makes the log, writes the map, copies call-frame information, gives every
 * thread its buffer, and maps a reserve of the log. */
void jp_control_before_sandbox_sig(void);

/* Called in a forked child: forgets commands that the parent was carrying
 * out. */
void jp_control_reset_sig(void);

/* Called at the end of each signal: stops the clocks if the log could not be
 * made, or if somebody has cut the log short, which is then said once on
 * stderr. */
void jp_control_check_sig(void);

#endif
