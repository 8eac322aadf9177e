/* SPDX-License-Identifier: MIT
 *
 * Stacks that are unmapped while others walk.  A walk reads a stack directly
 * while all of it is known to be mapped, which holds until some thread unmaps
 * or protects a part of it.  The hooks of munmap, mprotect and the like say
 * here when that begins and ends.
 * Runs in: handler, any thread. */
#ifndef JP_SHAKE_H
#define JP_SHAKE_H

#include <stdint.h>

/* Called around a system call that unmaps memory or takes the right to read it
 * away.  From begin on, walks of stacks in the range ask the kernel before
 * they read; begin waits for walks that run already.  keyed: a protection key
 * may forbid to read the memory, which the kernel does not tell; such stacks
 * are read by checked copies from then on. */
void jp_stack_change_begin_sig(uint64_t start, uint64_t size, int keyed);
void jp_stack_change_end_sig(void);

/* Whether any thread is between begin and end. */
int jp_is_unmapping_sig(void);

/* Called in a forked child, in which no other thread is. */
void jp_stack_change_reset_sig(void);

#endif
