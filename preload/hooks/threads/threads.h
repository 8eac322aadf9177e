/* SPDX-License-Identifier: MIT
 *
 * Threads: the pthread_create hook.  A new thread gets its record, its place in
 * the clock and its end through jprof's own start function, which runs the
 * program's.
 * Runs in: any thread, not in a handler. */
#ifndef JP_THREADS_H
#define JP_THREADS_H

#include <stdint.h>

/* Sets the bounds of that start function's code (jp_thread_start_low and
 * _high).  Called once, by the constructor. */
void jp_thread_start_init(void);

/* Runs a function in the calling thread, which began past the hook, as if the
 * thread had begun with it.  Returns what the function returns. */
void *jp_threads_run(void *(*function)(void *), void *argument);

#endif
