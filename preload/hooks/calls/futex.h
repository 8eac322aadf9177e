/* SPDX-License-Identifier: MIT
 *
 * Waiting for a futex by syscall(2), as GLib and Rust's library do.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_FUTEX_H
#define JP_FUTEX_H

#include "hooks/base/real.h"

/* Whether a system call waits for a futex. */
int jp_futex_waits(const long a[7]);

/* Makes such a call, again with the time that is left where only jprof's
 * signals ended it.  What the waker changed meanwhile ends it with EAGAIN. */
long jp_futex_wait(jp_syscall_function *real, const long a[7]);

#endif
