/* SPDX-License-Identifier: MIT
 *
 * Waiting for io_uring's completions by syscall(2), which has no function in
 * the C library.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_URING_H
#define JP_URING_H

#include "hooks/base/real.h"

/* Whether a system call is io_uring_enter and waits for completions. */
int jp_uring_waits(const long a[7]);

/* Makes such a call, again with the time that is left where only jprof's
 * signals ended it. */
long jp_uring_wait(jp_syscall_function *real, const long a[7]);

#endif
