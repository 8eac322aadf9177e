/* SPDX-License-Identifier: MIT
 *
 * Threads: the pthread_create hook, through which each new thread opens a
 * record of its own before the program's code runs in it.
 * Runs in: any thread, not in a handler. */
#ifndef JP_THREADS_H
#define JP_THREADS_H

#include <stdint.h>

/* Tells sig/ where jprof's own thread start is. */
void jp_thread_start_init(void);

/* Runs a function in the calling thread, which began without the hook, as if
 * it had begun with it; returns what the function does. */
void *jp_threads_run(void *(*function)(void *), void *argument);

#endif
