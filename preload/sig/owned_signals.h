/* SPDX-License-Identifier: MIT
 *
 * Which signals are jprof's: the clock's, SIGPROF, a spare one, and those that
 * control the profile.  What the program takes for itself leaves these sets.
 * Changed by signals.c only, under its lock.
 * Runs in: handler, any thread. */
#ifndef JP_OWNED_SIGNALS_H
#define JP_OWNED_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

/* Sets are the kernel's: JP_SIGSET. */
struct jp_owned_signals {
    _Atomic uint64_t ours;      /* the kernel has jp_handler_sig for these */
    _Atomic uint64_t unblocked; /* of them, kept unblocked in every thread,
                                   whatever mask the program asks for */
    _Atomic uint64_t ever;      /* were jprof's at some time: signals with
                                   its values may still come */
    _Atomic uint64_t open;      /* stay unblocked where jprof blocks "all"
                                   (jp_critical_begin_sig): what a thread has
                                   blocked goes to another one of the process,
                                   where it ends calls */
    _Atomic uint64_t ignored;   /* of these, those that do nothing, by
                                   default or by the program's wish */
    int spare;                  /* a real-time signal; 0: none is free */
};
extern struct jp_owned_signals jp_owned;

/* Fills the sets for the clock and the flags.  spare: a real-time signal that
 * nobody uses, or 0; address: of jprof's handler. */
void jp_owned_init_sig(int spare, uint64_t address);

/* Whether a control signal by the flags: it may be taken by the program, is
 * never unblocked against its mask, and comes back with SIG_DFL. */
int jp_owned_is_control_sig(int signal);

/* Whether a signal carries one of jprof's values: its timers' or a queued
 * command. */
int jp_owned_has_value_sig(const siginfo_t *info);

/* Looks whether the kernel still has jprof's handler for the clock's signal,
 * and notes it if not: a system call made without the C library replaces it
 * unseen.  Then the program keeps what it has set. */
void jp_owned_check_sig(void);

/* The signal to move the clock to when the program takes `taken`, or 0. */
int jp_owned_next_sig(int taken);

#endif
