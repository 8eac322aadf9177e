/* SPDX-License-Identifier: MIT
 *
 * Thread names in the map.
 * Runs in: handler, any thread. */
#ifndef JP_NAMES_H
#define JP_NAMES_H

#include <stdint.h>

struct jp_thread;

/* Writes the thread's name to the map if it is not there yet, or another. */
void jp_names_update_sig(struct jp_thread *thread);

/* The same for the calling thread, at most ten times a second. */
void jp_names_follow_sig(struct jp_thread *thread, uint64_t now_ns);

/* The same for all threads that were sampled. */
void jp_names_all_sig(void);

#endif
