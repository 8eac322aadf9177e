/* SPDX-License-Identifier: MIT
 *
 * What is done around an exec.
 * Runs in: any thread, vfork children. */
#ifndef JP_EXEC_H
#define JP_EXEC_H

struct jp_target;

/* Called before an exec: stops a clock that would outlive the program, and
 * sets the mask that the program believes it has.  Returns what jp_exec_failed
 * is to be given. */
int jp_exec_before(const struct jp_target *target);

/* Called after an exec has failed: undoes that.  Returns `result` and keeps
 * errno. */
long jp_exec_failed(int stopped, long result);

#endif
