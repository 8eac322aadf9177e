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

/* Gives a signal to the program, for which a handler is about to be set past
 * the hooks.  (It could not be put off, and must not come in jprof's.) */
void jp_signals_use_unseen(int signal);

/* Gives a set to the program that it waits for.  A set of nearly all signals
 * means none in particular, and does not take the clock's. */
void jp_signals_awaited(uint64_t set);

/* Gives one of the clock's signals to the program, to which somebody has sent
 * it.  Called in jprof's handler.  Returns whether the signal is the program's
 * now; not if another thread is changing actions for long. */
int jp_signals_claim(int signal);

/* Leaves the clock's signal, whose handler in the kernel is the program's
 * already, to the program.  As jp_signals_claim otherwise. */
int jp_signals_cede(int signal);

/* sigaction(2) as the hook carries it out: also returns and sets errno like
 * it. */
int jp_signals_action(int signal, const struct sigaction *action,
                      struct sigaction *old);

#endif
