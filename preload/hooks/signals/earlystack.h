/* SPDX-License-Identifier: MIT
 *
 * Which alternate stacks threads have set before jprof's constructor ran, in
 * other libraries' constructors.  No thread has a record then.
 * Runs in: any thread. */
#ifndef JP_EARLYSTACK_H
#define JP_EARLYSTACK_H

#include <stdint.h>

/* Notes that a thread has the alternate stack [low, high); 0, 0: none, or its
 * record says it.  Returns 0 when there is no room for another thread, or its
 * id is not known (0). */
int jp_earlystack_note(uint32_t tid, uint64_t low, uint64_t high);

/* Whether another living thread is noted with some of [low, high).  Of two
 * threads that are noted first and ask then, at least one sees the other. */
int jp_earlystack_has(uint32_t tid, uint64_t low, uint64_t high);

/* Forgets all; called in a forked child, which has one thread. */
void jp_earlystack_forked(void);

#endif
