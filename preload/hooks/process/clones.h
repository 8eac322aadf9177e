/* SPDX-License-Identifier: MIT
 *
 * Forks that call no pthread_atfork handlers, by bare system calls.
 * Runs in: any thread, not in a handler. */
#ifndef JP_CLONES_H
#define JP_CLONES_H

#include "hooks/base/real.h"

/* Whether a system call, by its number and first argument, makes a process
 * with memory of its own.  If it makes one that shares the root directory, and
 * may so take the log's files out of reach, does jp_sandbox_before first. */
int jp_clones_is_fork(long number, long first);

/* Makes such a call (a: its number and arguments) by `real`, the C library's
 * syscall, and sets the child up.  Returns and sets errno as syscall(2)
 * does. */
long jp_clones_fork(jp_syscall_function *real, const long a[7]);

#endif
