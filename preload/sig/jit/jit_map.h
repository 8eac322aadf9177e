/* SPDX-License-Identifier: MIT
 *
 * The perf maps of this process.  The functions here are called by one thread
 * at a time (jit.c has the lock).
 * Runs in: handler, any thread. */
#ifndef JP_JIT_MAP_H
#define JP_JIT_MAP_H

#include <stdint.h>

/* Logs each perf map that is new, has grown or was written anew, as of the time
 * `now_ns` of the sample that made us look. */
void jp_jitmap_look_sig(uint64_t now_ns);

/* Keeps them beside the log, see jp_jit_save_sig. */
void jp_jitmap_save_sig(int whole);

/* Before a fork: notes what the child's code is described by. */
void jp_jitmap_forking_sig(void);

/* Whether there is one. */
int jp_jitmap_seen_sig(void);

void jp_jitmap_reset_sig(void);

#endif
