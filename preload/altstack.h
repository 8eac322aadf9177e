/* SPDX-License-Identifier: MIT
 *
 * Alternate signal stacks: the sigaltstack hook.
 * Runs in: any thread. */
#ifndef JP_ALTSTACK_H
#define JP_ALTSTACK_H

#include <stdint.h>

/* The calling thread begins, with so much stack (0: not known).  Where that is
 * little, jprof's handler gets a stack of its own. */
void jp_altstack_begin(uint64_t room);

/* The calling thread ends: gives it its own alternate stack back, and frees
 * what stood in for it. */
void jp_altstack_end(void);

#endif
