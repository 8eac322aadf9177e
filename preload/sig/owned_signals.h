/* SPDX-License-Identifier: MIT
 *
 * Which signals are jprof's: the clock's, SIGPROF, a spare one, and those that
 * control the profile.  A signal that the program takes for itself leaves these
 * sets.  Only hooks/signals/signals.c changes them, under its lock.
 * Runs in: handler, any thread. */
#ifndef JP_OWNED_SIGNALS_H
#define JP_OWNED_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <ucontext.h>

/* Sets of signals, in the kernel's form (JP_SIGSET). */
struct jp_owned_signals {
    _Atomic uint64_t ours;      /* jprof's now: jp_handler_sig is installed */
    _Atomic uint64_t unblocked; /* of these, the ones kept unblocked in every
                                   thread, whatever mask the program sets */
    _Atomic uint64_t ever;      /* jprof's now or before: signals with jprof's
                                   values may still come */
    _Atomic uint64_t open;      /* left unblocked where jprof blocks all signals
                                   (jp_critical_begin_sig); blocked, one of them
                                   would go to another thread and end its
                                   call */
    _Atomic uint64_t ignored;   /* of `open`, those whose action does nothing */
    _Atomic uint32_t hushed;    /* 1: the kernel ignores jprof's signals, and
                                   no handler of jprof's runs */
    _Atomic uint32_t heard;     /* 1: a signal of a clock has come to jprof's
                                   handler since jp_owned_watch_sig */
    int spare;                  /* a real-time signal that the clock may move
                                   to; 0: none is free */
};
extern struct jp_owned_signals jp_owned;

/* What the hooks are told by the handler; any may be NULL. */
struct jp_owned_listener {
    /* Somebody has sent the calling thread a signal of the clock's.  Returns
     * whether the signal is the program's, and has been sent again. */
    int (*sent)(int signal, siginfo_t *info, ucontext_t *context);
    /* The kernel no longer has jprof's handler for the clock's signal.  Returns
     * whether the clock has left it. */
    int (*replaced)(int signal);
};

/* Sets the listener, which is kept. */
void jp_owned_listen_sig(const struct jp_owned_listener *listener);

/* Tells the listener of a signal that carries no value of jprof's; returns what
 * `sent` does. */
int jp_owned_is_claimed_sig(int signal, siginfo_t *info, ucontext_t *context);

/* Fills the sets by the clock and the flags.  spare: a real-time signal that
 * the program does not use, or 0; address: of jp_handler_sig. */
void jp_owned_init_sig(int spare, uint64_t address);

/* Sets the spare signal, and with it the slow timer's from its next start
 * on. */
void jp_owned_spare_sig(int spare);

/* Whether a signal controls the profile, by the flags.  Such a signal may be
 * taken by the program, is never unblocked against the program's mask, and
 * becomes jprof's again when the program sets it to SIG_DFL. */
int jp_owned_is_control_sig(int signal);

/* Whether a signal carries a value of jprof's: a timer's, or a queued
 * command. */
int jp_owned_has_value_sig(const siginfo_t *info);

/* Tells the listener if the kernel no longer has jprof's handler for the
 * clock's signal: the program has replaced it past the hooks, by a bare system
 * call or inside the C library.  (If the clock's signals still come, the new
 * handler calls jprof's, and all is well.)  Called at each signal of the slow
 * timer. */
void jp_owned_watch_sig(void);

/* Notes in the map if the kernel no longer has jprof's handler for the clock's
 * signal, and jp_owned_watch_sig has not moved the clock.  The program keeps
 * what it has set. */
void jp_owned_check_sig(void);

/* The signal that the clock can move to when the program takes `taken`; 0:
 * there is none. */
int jp_owned_next_sig(int taken);

#endif
