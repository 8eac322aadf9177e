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

/* Chooses a spare signal, finds out which signals the program has inherited a
 * use for, and installs the handler for jprof's signals.  Called once, by the
 * constructor.  Returns 0 or the kernel's errno. */
int jp_signals_install(void);

/* Gives these signals (JP_SIGSET) to the program, which waits for them or has a
 * timer send them; the clock moves to another signal if need be. */
void jp_signals_use(uint64_t set);

/* Gives a set to the program that it blocks, or with `waits` waits for.
 * A set of nearly all signals means none in particular, and does not take the
 * clock's.  Control signals are taken only with `waits`. */
void jp_signals_meant(uint64_t set, int waits);

/* sigaction(2) as the hook carries it out: also returns and sets errno like
 * it. */
int jp_signals_action(int signal, const struct sigaction *action,
                      struct sigaction *old);

/* Called in a forked child: releases the lock, which a thread of the parent may
 * have held. */
void jp_signals_forked(void);

#endif
