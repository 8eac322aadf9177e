/* SPDX-License-Identifier: MIT
 *
 * Alternate signal stacks: the sigaltstack hook.
 * Runs in: any thread. */
#ifndef JP_ALTSTACK_H
#define JP_ALTSTACK_H

#include <stdint.h>

/* Called when a thread begins.  room: bytes of its stack, 0: unknown.  If the
 * stack is small and the thread has no alternate stack, maps one for jprof's
 * handler and sets it. */
void jp_altstack_begin(uint64_t room);

/* Called by the constructor: the first thread may have an alternate stack
 * already, which a library's constructor has set.  In valgrind one that has
 * none gets one. */
void jp_altstack_known(void);

/* Called at the constructor's end, also where the process is not profiled. */
void jp_altstack_constructed(void);

/* Called in the thread of a forked child, which keeps its alternate stack. */
void jp_altstack_forked(void);

/* Called when a thread ends: sets the program's own alternate stack again, and
 * unmaps jprof's. */
void jp_altstack_end(void);

/* Called before a handler of the program's, whose frame the kernel has put at
 * `frame`.  If that is on a stack that stands in for the program's, copies the
 * frame to the program's as well, where the program may look for it. */
void jp_altstack_show(const void *frame);

#endif
