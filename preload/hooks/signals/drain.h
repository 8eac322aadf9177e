/* SPDX-License-Identifier: MIT
 *
 * Waiting for signals on their way.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_DRAIN_H
#define JP_DRAIN_H

/* A signal that jprof's clock sends no longer may be pending still in threads
 * that are in the kernel; one of the program's own, sent to such a thread,
 * would be merged with it and lost.  Waits until no other thread has it
 * pending, for a second at most. */
void jp_drain(int signal);

#endif
