/* SPDX-License-Identifier: MIT
 *
 * Alternate signal stacks: the sigaltstack hook.
 * Runs in: any thread. */
#ifndef JP_ALTSTACK_H
#define JP_ALTSTACK_H

/* The calling thread ends: gives it its own alternate stack back, and frees
 * the one that stood in for it. */
void jp_altstack_end(void);

#endif
