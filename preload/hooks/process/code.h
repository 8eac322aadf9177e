/* SPDX-License-Identifier: MIT
 *
 * Memory that becomes code or is unmapped, by bare system calls.
 * Runs in: any thread, not in a handler. */
#ifndef JP_CODE_H
#define JP_CODE_H

#include "hooks/base/real.h"

/* Whether a system call (a: its number and arguments) changes memory that other
 * threads may be using. */
int jp_code_is_change(const long a[7]);

/* Makes such a call by `real`, the C library's syscall, as the hooks do.
 * Returns and sets errno as syscall(2) does. */
long jp_code_syscall(jp_syscall_function *real, const long a[7]);

#endif
