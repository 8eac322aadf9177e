/* SPDX-License-Identifier: MIT
 *
 * Critical sections: work of jprof's in the program's threads, outside the
 * handler, that must not be left half done.  Signals are blocked meanwhile.
 * Runs in: any thread. */
#ifndef JP_CRITICAL_H
#define JP_CRITICAL_H

#include <stdint.h>

/* Blocks all signals in the calling thread, the C library's own two as well,
 * except those that run nothing of the program's: ignored ones, and those whose
 * handlers are put off until the end (jp_program_handler).  Returns the mask
 * before, for jp_critical_end_sig. */
uint64_t jp_critical_begin_sig(void);

/* Sets the mask that jp_critical_begin_sig returned. */
void jp_critical_end_sig(uint64_t mask);

/* How many critical sections and handlers of jprof's the calling thread is in.
 * It is more than 0 from before signals are blocked until after they are
 * not. */
extern _Thread_local volatile uint32_t jp_critical_depth;

/* Whether the calling thread is in one of them, where jp_critical_depth says
 * so: a handler of the program's may have left by a jump, but the mask tells.
 * Sets *mask to what is blocked. */
int jp_critical_masked_sig(uint64_t *mask);

#endif
