/* SPDX-License-Identifier: MIT
 *
 * The program's own seccomp filters (seccomp(2)).  A system call that a filter
 * does not allow may end the program.  So jprof keeps a copy of each filter,
 * runs it on each system call of its own first, and does not make those that
 * the filter would not allow.
 * Runs in: handler, any thread. */
#ifndef JP_FILTER_H
#define JP_FILTER_H

#include <linux/filter.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct jp_filter;

/* The list of filters, the newest first; NULL while there are none.  jprof
 * applies a filter to the whole process, whichever thread installed it. */
extern struct jp_filter *_Atomic jp_filters;

/* Adds a copy of the filter of `count` instructions at the program's address
 * `code`.  Called before the kernel gets the filter.  Returns it; NULL when
 * there is no memory, or when the kernel will not accept the filter either. */
struct jp_filter *jp_filter_add_sig(uint64_t code, uint32_t count);

/* Adds the filter that SECCOMP_MODE_STRICT is: read, write, exit and
 * rt_sigreturn.  Returns it, or NULL when there is no memory. */
struct jp_filter *jp_filter_strict_sig(void);

/* Takes a filter out again that the kernel did not accept.  It is not freed. */
void jp_filter_drop_sig(struct jp_filter *filter);

/* What the filters would do with a system call: 0 when all allow it, else the
 * -errno that a filter answers with, or -EPERM for a harder answer. */
int jp_filter_verdict_sig(long number, const long arguments[6]);

/* Returns the same for a system call with arguments of 0. */
static inline int jp_filter_number_sig(long number)
{
    const long none[6] = {0, 0, 0, 0, 0, 0};
    return atomic_load_explicit(&jp_filters, memory_order_acquire) == NULL
               ? 0
               : jp_filter_verdict_sig(number, none);
}

/* Whether the filters answer a system call with arguments of 0 with an error,
 * and with nothing harder.  (An error of 0 is none: a call that makes a
 * descriptor then seems to have made 0, standard input.) */
int jp_filter_answers_sig(long number);

/* Runs a filter's `count` instructions on a system call.  Returns its answer
 * (SECCOMP_RET_*), SECCOMP_RET_KILL_THREAD for invalid instructions.  Public
 * for tests. */
uint32_t jp_filter_run_sig(const struct sock_filter *code, uint32_t count,
                           long number, const long arguments[6]);

#endif
