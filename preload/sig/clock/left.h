/* SPDX-License-Identifier: MIT
 *
 * Which call a thread has just come out of, and what it costs a waiting thread
 * to come out of its call for a sample.
 * Runs in: handler. */
#ifndef JP_LEFT_H
#define JP_LEFT_H

#include <stdint.h>
#include <ucontext.h>

/* Whether the interrupted thread has just returned from a system call that
 * does nothing but wait.  The signal came when the thread was woken up but had
 * no CPU yet, and was handled as it left the call.  0 also when that is not
 * known. */
int jp_left_wait_sig(const ucontext_t *context);

/* The CPU time, in ns, that a sample costs a waiting thread besides the
 * handler's: it leaves its system call and enters it again.  Learned from
 * threads that used so much between two samples and did nothing else. */
void jp_left_learn_sig(uint64_t used_ns);
uint64_t jp_left_cost_sig(void);

#endif
