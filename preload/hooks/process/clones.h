/* SPDX-License-Identifier: MIT
 *
 * Forks that call no pthread_atfork handler.
 * Runs in: any thread, not in a handler. */
#ifndef JP_CLONES_H
#define JP_CLONES_H

#include "hooks/base/real.h"

/* Whether a system call with this first argument makes a process with memory
 * of its own.  Where it makes one that may take the files out of reach, the
 * log is made ready for that. */
int jp_clones_is_fork(long number, long first);

/* Makes such a call (number and arguments in a) by the C library's function,
 * and sets the child up.  Returns and sets errno as that does. */
long jp_clones_fork(jp_syscall_function *real, const long a[7]);

#endif
