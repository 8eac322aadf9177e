/* SPDX-License-Identifier: MIT
 *
 * Thread names in the map.
 * Runs in: handler, any thread. */
#ifndef JP_NAMES_H
#define JP_NAMES_H

#include <stdint.h>

struct jp_thread;

/* Writes the thread's name to the map, unless it is there already. */
void jp_names_update_sig(struct jp_thread *thread);

/* Called at samples: as jp_names_update_sig, for the calling thread, at most
 * ten times a second.  now_ns: CLOCK_MONOTONIC. */
void jp_names_follow_sig(struct jp_thread *thread, uint64_t now_ns);

/* As jp_names_update_sig, for all live threads that have been sampled. */
void jp_names_all_sig(void);

#endif
