/* SPDX-License-Identifier: MIT
 *
 * fork: signals are held during the call, which the clock's would restart
 * again and again, and the child gets a profile of its own.
 * Runs in: any thread, not in a handler. */
#ifndef JP_FORK_H
#define JP_FORK_H

/* Registers the handlers (pthread_atfork).  Returns 0 or an errno. */
int jp_fork_init(void);

/* What is to be done in the thread that forks before it does, and after it in
 * parent and child, where pthread_atfork's handlers are not called. */
void jp_fork_before(void);
void jp_fork_parent(void);
void jp_fork_child(void);

#endif
