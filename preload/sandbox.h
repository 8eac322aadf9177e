/* SPDX-License-Identifier: MIT
 *
 * Before the log's files are out of reach.
 * Runs in: any thread, not in a handler. */
#ifndef JP_SANDBOX_H
#define JP_SANDBOX_H

/* Writes what a report needs and maps a reserve of the log.  errno is kept. */
void jp_sandbox_brace(void);

#endif
