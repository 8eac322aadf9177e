/* SPDX-License-Identifier: MIT
 *
 * The order of real-time signals that are put off.  Sent again, such a signal
 * stands behind others of its number that wait already, and the kernel brings
 * those first.  So what it carries is kept here, and what comes first gets it:
 * what is carried moves on by one, up to the signal that was sent again.
 * Runs in: the program's handlers. */
#ifndef JP_TURNS_H
#define JP_TURNS_H

#include <signal.h>

/* Called with a signal that is blocked, and that its handler blocks, before it
 * is sent again: keeps what it carries, and marks it.  Where there is no room,
 * it stays as it is. */
void jp_turns_put_off(int signal, siginfo_t *info);

/* Called with a signal that has come, or that could not be sent again, before
 * the program's handler: sets *info to what is to come next. */
void jp_turns_next(int signal, siginfo_t *info);

/* Called in a forked child, which has none of its parent's signals. */
void jp_turns_forked(void);

#endif
