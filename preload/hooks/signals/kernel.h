/* SPDX-License-Identifier: MIT
 *
 * jprof's handler in the kernel's table of actions, and the lock of what the
 * hooks remember of that table.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_KERNEL_H
#define JP_KERNEL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

typedef int jp_sigaction_function(int, const struct sigaction *,
                                  struct sigaction *);

/* Looks up by what jprof's handler is installed: the C library's sigaction,
 * whatever is between, as a sanitizer's calls a handler only when the thread
 * next makes a call; `otherwise` if it is not found.  Called once, before any
 * of the functions below. */
void jp_kernel_begin(jp_sigaction_function *otherwise);

/* Begins a critical section and takes the lock.  Returns the mask before. */
uint64_t jp_kernel_lock(void);

/* The same, for jprof's handler: who has the lock may wait until that has
 * returned (jp_drain).  Returns 0 if it does not come free soon. */
int jp_kernel_try_lock(uint64_t *mask);

/* Releases the lock and ends the section.  In the calling thread, blocks
 * signals that are no longer jprof's and that the program believes blocked. */
void jp_kernel_unlock(uint64_t mask);

/* The same, but with the mask as it was. */
void jp_kernel_release(uint64_t mask);

/* Whether a signal is in a set of jp_owned's. */
int jp_kernel_is_in(int signal, const _Atomic uint64_t *set);

/* Whether the kernel ignores jprof's signals. */
int jp_kernel_is_hushed(void);

/* Has the kernel ignore one of jprof's signals, or installs jprof's handler for
 * it.  Returns as sigaction(2). */
int jp_kernel_install(int signal, int hush);

/* Does so for all of jprof's signals but one.  Returns 0, or -1 with errno if
 * the kernel refuses one. */
int jp_kernel_install_ours(int but, int hush);

/* Whether a signal with this action may stay unblocked in jprof's critical
 * sections: it runs nothing of the program's (four signals do nothing by
 * default), or its handler can be put off, which takes the context's mask. */
int jp_kernel_may_come(int signal, const struct sigaction *kernel);

/* Updates jp_owned.open and .ignored for a signal whose action has changed. */
void jp_kernel_sort(int signal, const struct sigaction *kernel);

/* on: has the kernel ignore jprof's signals, also those that are pending, as no
 * handler could return from here on.  0: installs the handler again.  Returns
 * whether that is a change. */
int jp_kernel_hush(int on);

/* Called before (begins: 1) and after a call in which the kernel hands the
 * actions of signals on to another program: it must not begin with signals
 * ignored for jprof's sake. */
void jp_kernel_exec(int begins);

/* Called in a forked child: releases the lock, which a thread of the parent may
 * have held, and if jp_process.ended is not for the child, too, ends what
 * jp_kernel_hush did. */
void jp_kernel_forked(void);

#endif
