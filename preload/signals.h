/* SPDX-License-Identifier: MIT
 *
 * Signal dispositions: installs jprof's handler, and answers the program's
 * own sigaction and signal calls about the same signals as if it were not
 * there.
 * Runs in: any thread. */
#ifndef JP_SIGNALS_H
#define JP_SIGNALS_H

/* Installs the handler for each of jprof's signals. */
void jp_signals_install(void);

#endif
