/* SPDX-License-Identifier: MIT
 *
 * Before the log's files are out of reach.
 * Runs in: any thread, not in a handler. */
#ifndef JP_SANDBOX_H
#define JP_SANDBOX_H

#include <stdint.h>

struct jp_filter;

/* Writes what a report needs and maps a reserve of the log.  errno is kept. */
void jp_sandbox_before(void);

/* What was done before a call that may install a filter. */
struct jp_sandbox_filter {
    struct jp_filter *filter; /* NULL: none, or it is not known */
    int stopped;              /* the profile, as it could not go on behind it */
};

/* Gets ready for the filter at `address` (struct sock_fprog), or for the strict
 * mode.  errno is kept. */
struct jp_sandbox_filter jp_sandbox_expect(int strict, uint64_t address);

/* After the call: where nothing was installed, all is as it was.  errno is
 * kept. */
void jp_sandbox_settle(const struct jp_sandbox_filter *expected, int installed);

#endif
