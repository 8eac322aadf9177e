/* SPDX-License-Identifier: MIT
 *
 * The program's own seccomp filters.  A system call that a filter does not let
 * pass may end the program; so jprof keeps a copy of each filter, runs it on
 * every system call of its own first (seccomp(2)), and goes without those that
 * would not pass.
 * Runs in: handler, any thread. */
#ifndef JP_FILTER_H
#define JP_FILTER_H

#include <linux/filter.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct jp_filter;

/* The filters, last first; NULL while there is none.  A filter counts for the
 * whole process, whichever thread it was installed for. */
extern struct jp_filter *_Atomic jp_filters;

/* Adds a filter of `count` instructions at `code` (any address of the
 * program's), to be called before the kernel gets it.  Returns it, or NULL
 * where it cannot be kept: the kernel will not take it then either, or there
 * is no memory. */
struct jp_filter *jp_filter_add_sig(uint64_t code, uint32_t count);

/* Adds what SECCOMP_MODE_STRICT lets pass: read, write, exit, rt_sigreturn. */
struct jp_filter *jp_filter_strict_sig(void);

/* The kernel did not take it after all: it is not asked any more. */
void jp_filter_drop_sig(struct jp_filter *filter);

/* What would become of a system call: 0 when all filters let it pass, else the
 * -errno that a filter answers with, or -EPERM for a harder answer. */
int jp_filter_verdict_sig(long number, const long arguments[6]);

/* The same for a call whose arguments no filter is likely to look at. */
static inline int jp_filter_number_sig(long number)
{
    const long none[6] = {0, 0, 0, 0, 0, 0};
    return atomic_load_explicit(&jp_filters, memory_order_acquire) == NULL
               ? 0
               : jp_filter_verdict_sig(number, none);
}

/* One filter's answer (SECCOMP_RET_...), for tests: the program `code` run on
 * one system call.  SECCOMP_RET_KILL_THREAD for code that is not sound. */
uint32_t jp_filter_run_sig(const struct sock_filter *code, uint32_t count,
                           long number, const long arguments[6]);

#endif
