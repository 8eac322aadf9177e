/* SPDX-License-Identifier: MIT
 *
 * Stacks whose memory changes: what is known of a thread's stack, so that it is
 * read without asking, holds until some thread changes a part of it.
 * Runs in: handler, any thread. */
#ifndef JP_SHAKE_H
#define JP_SHAKE_H

#include <stdint.h>

/* Around a call that takes memory away, or the right to read it.  begin: from
 * here on nobody reads the range without asking: walks that begin ask the
 * kernel, and those under way are waited for.  keyed: it may be forbidden by a
 * protection key, of which the kernel says nothing. */
void jp_shake_begin_sig(uint64_t start, uint64_t size, int keyed);
void jp_shake_end_sig(void);

/* Whether a thread is in such a call. */
int jp_shaking_sig(void);

/* In a forked child no thread is. */
void jp_shake_reset_sig(void);

#endif
