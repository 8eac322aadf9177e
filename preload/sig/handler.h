/* SPDX-License-Identifier: MIT
 *
 * The signal handler, one for all of jprof's signals.
 * Runs in: handler. */
#ifndef JP_HANDLER_H
#define JP_HANDLER_H

#include <signal.h>
#include <stdint.h>

#include "jp_limits.h"

/* The handler for sigaction (SA_SIGINFO).  Keeps errno. */
void jp_handler_sig(int signal, siginfo_t *info, void *context);

/* The value of a signal that is to end a thread's call, as
 * jp_thread_hooks.taken was set.  Among those of JP_CONTROL_MAGIC, but no
 * command. */
#define JP_HANDLER_NOTED (JP_CONTROL_MAGIC | 0xf1U)

/* Whether an address is in jp_handler_sig itself, or in the question with which
 * it begins (sig/state/gate), or in the code to which it returns, as other
 * handlers do.  A thread interrupted there may have begun the
 * handler without counting it in jp_critical_depth yet, or have counted its
 * end. */
int jp_handler_is_at_sig(uint64_t pc);

#endif
