/* SPDX-License-Identifier: MIT
 *
 * sigaction as a bare system call.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_DISPOSITIONS_H
#define JP_DISPOSITIONS_H

#include "hooks/base/real.h"

/* Carries out SYS_rt_sigaction as the sigaction hook does.  a: the call's
 * number and arguments; real: the C library's syscall, which carries out what
 * is no valid call.  Returns and sets errno as syscall(2) does. */
long jp_dispositions_syscall(jp_syscall_function *real, const long a[7]);

#endif
