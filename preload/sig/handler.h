/* SPDX-License-Identifier: MIT
 *
 * The signal handler, one for all of jprof's signals.
 * Runs in: handler. */
#ifndef JP_HANDLER_H
#define JP_HANDLER_H

#include <signal.h>
#include <stdint.h>

/* The handler for sigaction (SA_SIGINFO).  Keeps errno. */
void jp_handler_sig(int signal, siginfo_t *info, void *context);

/* Whether an address is in jp_handler_sig itself.  A thread interrupted there
 * may have begun the handler without counting it in jp_critical_depth yet. */
int jp_handler_is_at_sig(uint64_t pc);

#endif
