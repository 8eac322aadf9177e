/* SPDX-License-Identifier: MIT
 *
 * The perf maps of this process (/tmp/perf-PID.map).  The functions are called
 * under jit.c's lock.
 * Runs in: handler, any thread. */
#ifndef JP_JIT_MAP_H
#define JP_JIT_MAP_H

#include <stdint.h>

/* Writes a line about each perf map that is new, has grown or was written anew.
 * now_ns: the time of the sample that made jprof look, which the line gets. */
void jp_jitmap_look_sig(uint64_t now_ns);

/* Keeps the perf maps beside the log, as jp_jit_save_sig says. */
void jp_jitmap_save_sig(int whole);

/* Called before a fork: notes the sizes of the perf maps, which describe the
 * child's code up to there. */
void jp_jitmap_forking_sig(void);

/* Whether a perf map was found. */
int jp_jitmap_seen_sig(void);

/* Called in a forked child: keeps only what its parent's perf maps had before
 * the fork. */
void jp_jitmap_reset_sig(void);

#endif
