/* SPDX-License-Identifier: MIT
 *
 * fork: the clock's signal is held during the call, which it would restart
 * again and again, and the child gets a profile of its own.
 * Runs in: any thread, not in a handler. */
#ifndef JP_FORK_H
#define JP_FORK_H

/* Registers the handlers (pthread_atfork).  Returns 0 or an errno. */
int jp_fork_init(void);

#endif
