/* SPDX-License-Identifier: MIT
 *
 * Which system calls SA_RESTART makes again.
 * Runs in: handler, the program's handlers. */
#ifndef JP_RESTART_H
#define JP_RESTART_H

/* Whether SA_RESTART decides if a handler ends this system call (signal(7)):
 * others are always made again (fork, FUTEX_LOCK_PI) or always end with EINTR.
 * second: its second argument. */
int jp_restart_by_flag_sig(long number, long second);

#endif
