/* SPDX-License-Identifier: MIT
 *
 * Memory that becomes code, or goes away.
 * Runs in: any thread, not in a handler. */
#ifndef JP_CODE_H
#define JP_CODE_H

#include "hooks/base/real.h"

/* Whether a bare system call (its number first) changes memory that others may
 * be using; and making it. */
int jp_code_is_change(const long a[7]);
long jp_code_syscall(jp_syscall_function *real, const long a[7]);

#endif
