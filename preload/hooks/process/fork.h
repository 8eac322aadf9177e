/* SPDX-License-Identifier: MIT
 *
 * fork: the clock's signals are blocked during the call, which they would make
 * the kernel restart again and again, and the child gets a profile of its own.
 * Runs in: any thread, not in a handler. */
#ifndef JP_FORK_H
#define JP_FORK_H

/* Registers the three functions below with pthread_atfork.  Called once, by the
 * constructor.  Returns 0 or an errno. */
int jp_fork_init(void);

/* Called in the thread that forks: before the fork, and after it in the parent
 * and in the child.  A program may get hold of pthread_atfork's handlers and
 * call them itself (Firefox does, around clone).  So each may be called more
 * than once and nested, and jp_fork_child without jp_fork_before; only the
 * first call in a child sets it up. */
void jp_fork_before(void);
void jp_fork_parent(void);
void jp_fork_child(void);

#endif
