/* SPDX-License-Identifier: MIT
 *
 * Signal dispositions: installs jprof's handler, answers the program's
 * sigaction as if it were not there, and leaves to the program the signals
 * that it turns out to use.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_SIGNALS_H
#define JP_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/* Chooses a spare signal and installs the handler for each of jprof's.
 * Returns 0, or the errno of the kernel, which takes none. */
int jp_signals_install(void);

/* The program waits for these signals, or has them sent to it by a timer: they
 * are no longer jprof's, and the clock moves if need be. */
void jp_signals_use(uint64_t set);

/* The same for a set that the program blocks or waits for.  A set that holds
 * nearly all means no signal in particular: the clock stays.  `waits`: control
 * signals in it are the program's too. */
void jp_signals_meant(uint64_t set, int waits);

/* sigaction on one of any signals; as sigaction(2). */
int jp_signals_action(int signal, const struct sigaction *action,
                      struct sigaction *old);

/* In a forked child: nobody holds the lock. */
void jp_signals_forked(void);

#endif
