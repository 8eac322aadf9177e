/* SPDX-License-Identifier: MIT
 *
 * Waiting for signals that are on their way.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_DRAIN_H
#define JP_DRAIN_H

/* Called after the clock has left a signal, which may still be pending in
 * threads that are in the kernel: the kernel would merge the program's own
 * signal with it.  Waits until no other thread has it pending, for a second at
 * most. */
void jp_drain(int signal);

#endif
