/* SPDX-License-Identifier: MIT
 *
 * sigaction as a bare system call.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_DISPOSITIONS_H
#define JP_DISPOSITIONS_H

#include "hooks/base/real.h"

/* Carries out SYS_rt_sigaction with its arguments, number first in `a`, as
 * sigaction does; what the kernel alone is to judge, by the C library's
 * syscall function.  Returns and sets errno as that does. */
long jp_dispositions_syscall(jp_syscall_function *real, const long a[7]);

#endif
