/* SPDX-License-Identifier: MIT
 *
 * Starting, pausing, clearing and saving.
 * Runs in: handler, any thread. */
#ifndef JP_CONTROL_H
#define JP_CONTROL_H

#include "jp_limits.h"

/* Carries out a command (enum jp_control).  While another thread is at one,
 * the command is left for that thread.  Pausing a paused profile, starting a
 * running one and clearing without a ring do nothing. */
void jp_control_sig(enum jp_control command);

/* Stops the profile without a word in the map: for good, or until
 * jp_control_on_sig where it turned out that it can go on. */
void jp_control_off_sig(void);
void jp_control_on_sig(void);

/* The process ends in order: timers off, map brought up to date. */
void jp_control_exit_sig(void);

/* Before something after which the files may be out of reach (a seccomp filter,
 * a chroot, another user): if the profile runs, makes the log, writes the map,
 * and maps a reserve of the log. */
void jp_control_before_sandbox_sig(void);

/* Forgets a command that was being carried out, as a forked child does. */
void jp_control_reset_sig(void);

/* Ends the profile if its log could not be made, or if somebody has cut it
 * short, which is said.  Called at the end of each signal. */
void jp_control_check_sig(void);

#endif
