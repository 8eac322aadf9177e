/* SPDX-License-Identifier: MIT
 *
 * Signal dispositions: jprof's handler is installed, the program's sigaction is
 * answered as if it were not, and signals that the program turns out to use are
 * left to it.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_SIGNALS_H
#define JP_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/* Chooses a spare signal and installs the handler for jprof's signals, but for
 * those that the program uses from its start: `used`, and any with an action.
 * Called once, by the constructor.  Returns 0 or the kernel's errno. */
int jp_signals_install(uint64_t used);

/* Gives these signals (JP_SIGSET) to the program, which waits for them or has a
 * timer send them; the clock moves to another signal if need be. */
void jp_signals_use(uint64_t set);

/* Gives a set to the program that it waits for.  A set of nearly all signals
 * means none in particular, and does not take the clock's. */
void jp_signals_awaited(uint64_t set);

/* Gives one of the clock's signals to the program, to which somebody has sent
 * it.  Called in jprof's handler.  Returns whether the signal is the program's
 * now; not if another thread is changing actions for long. */
int jp_signals_claim(int signal);

/* sigaction(2) as the hook carries it out: also returns and sets errno like
 * it. */
int jp_signals_action(int signal, const struct sigaction *action,
                      struct sigaction *old);

/* on: has the kernel ignore jprof's signals, also those that are pending, as no
 * handler could return from here on.  0: installs the handler again.  Returns
 * whether that is a change. */
int jp_signals_hush(int on);

/* Called before (begins: 1) and after a call in which the kernel hands the
 * actions of signals on to another program: it must not begin with signals
 * ignored for jprof's sake. */
void jp_signals_exec(int begins);

/* Called in a forked child: releases the lock, which a thread of the parent may
 * have held, and if jp_process.ended is not for the child, too, ends what
 * jp_signals_hush did. */
void jp_signals_forked(void);

#endif
