/* SPDX-License-Identifier: MIT
 *
 * Which call a thread has just come out of.
 * Runs in: handler. */
#ifndef JP_LEFT_H
#define JP_LEFT_H

#include <ucontext.h>

/* Whether the interrupted thread has just returned from a system call that does
 * nothing but wait: it was woken up, and a signal that came before it had a CPU
 * is handled when it leaves the call.  0 also when that is not known. */
int jp_left_wait_sig(const ucontext_t *context);

#endif
