/* SPDX-License-Identifier: MIT
 *
 * exec.
 * Runs in: any thread, vfork children. */
#ifndef JP_EXEC_H
#define JP_EXEC_H

/* Before an exec: stops a clock that would outlive the program.  Returns what
 * jp_exec_failed wants to know. */
int jp_exec_before(void);

/* After an exec that has failed: goes on.  Returns `result`, errno kept. */
long jp_exec_failed(int stopped, long result);

#endif
