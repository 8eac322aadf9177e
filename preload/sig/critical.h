/* SPDX-License-Identifier: MIT
 *
 * Parts of jprof's work in the program's threads that must not be left half
 * done: signals are blocked meanwhile.
 * Runs in: any thread. */
#ifndef JP_CRITICAL_H
#define JP_CRITICAL_H

#include <stdint.h>

/* Blocks the signals in the calling thread, the C library's own as well, and
 * returns the mask before, which jp_critical_end_sig gives back.  Open stay
 * those for which nothing of the program's runs now: ignored ones, and those of
 * its handlers that are put off (jp_program_handler). */
uint64_t jp_critical_begin_sig(void);
void jp_critical_end_sig(uint64_t mask);

/* How often the calling thread is inside of such a part, or of the handler:
 * from before it is blocked until after it is not. */
extern _Thread_local volatile uint32_t jp_critical_depth;

#endif
