/* SPDX-License-Identifier: MIT
 *
 * What takes the files out of reach.
 * Runs in: any thread, not in a handler. */
#ifndef JP_SANDBOX_H
#define JP_SANDBOX_H

/* Gets the profile ready for a time when no file can be opened any more:
 * before what may end it.  Does nothing in a process that only borrows this
 * one's memory.  errno stays. */
void jp_sandbox_brace(void);

#endif
