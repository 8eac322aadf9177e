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

/* A handler of the program's begins, whose frame the kernel has put there:
 * where that is on a stack which stands in for the program's, it is put on
 * the program's, too, as the program may look. */
void jp_altstack_show(const void *frame);

#endif
