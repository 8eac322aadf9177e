/* SPDX-License-Identifier: MIT
 *
 * What is done before the log's files, or system calls, are out of reach.
 * Runs in: any thread, not in a handler. */
#ifndef JP_SANDBOX_H
#define JP_SANDBOX_H

#include <stdint.h>

struct jp_filter;

/* Writes what a report needs, and maps a reserve of the log
 * (jp_control_before_sandbox_sig).  Does nothing in a vfork child.  Keeps
 * errno. */
void jp_sandbox_before(void);

/* Called before unshare(what): the same, and where the process gets mounts of
 * its own, keeps the folder open (handover.h). */
void jp_sandbox_unshare(int what);

/* What was done before a system call that may install a seccomp filter. */
struct jp_sandbox_filter {
    struct jp_filter *filter; /* the filter as jprof knows it; NULL: none */
    int stopped;              /* 1: the profile was stopped, as it cannot go on
                                 behind the filter, */
    int ran;                  /* it ran then, */
    uint32_t before;          /* and jp_process.ended was this */
    int hushed;               /* 1: jprof's signals were stopped as well */
};

/* Called before such a call: does jp_sandbox_before, and adds the filter to
 * those that jprof knows.  strict: it is SECCOMP_MODE_STRICT; else address: of
 * the struct sock_fprog.  Stops the profile if it cannot go on.  Keeps
 * errno. */
struct jp_sandbox_filter jp_sandbox_expect(int strict, uint64_t address);

/* Called after the call: if it has installed nothing, undoes that; else has
 * programs that are executed from here on run without a profile where the
 * filter forbids what profiling needs.  Keeps errno. */
void jp_sandbox_settle(const struct jp_sandbox_filter *expected, int installed);

#endif
