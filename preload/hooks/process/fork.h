/* SPDX-License-Identifier: MIT
 *
 * fork: the clock's signals are held during the call, which they would restart
 * again and again, and the child gets a profile of its own.
 * Runs in: any thread, not in a handler. */
#ifndef JP_FORK_H
#define JP_FORK_H

/* Registers the handlers (pthread_atfork).  Returns 0 or an errno. */
int jp_fork_init(void);

/* What is to be done in the thread that forks before it does, and after it in
 * parent and child.  pthread_atfork's handlers are these, too, and a program
 * may keep and call those by itself (Firefox does, around clone): so each may
 * be called more than once, one in the other, and the child's without the one
 * before it.  The child's work is done once. */
void jp_fork_before(void);
void jp_fork_parent(void);
void jp_fork_child(void);

#endif
