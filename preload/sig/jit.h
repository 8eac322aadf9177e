/* SPDX-License-Identifier: MIT
 *
 * The files in which a runtime describes its JIT code: noticed, their growth
 * logged with times, and kept beside the log.
 * Runs in: handler, any thread. */
#ifndef JP_JIT_H
#define JP_JIT_H

#include <stdint.h>

struct jp_kit;

/* Logs how far the perf map has grown, if the kit's stack has JIT code in it
 * and a tenth of a second has passed since the last look. */
void jp_jit_check_sig(const struct jp_kit *kit, uint64_t now_ns);

/* Keeps the perf map beside the log: a hard link, or where that cannot be a
 * copy, of at most JP_SAVE_MAX bytes unless `whole`. */
void jp_jit_save_sig(int whole);

/* Forgets what was seen, as a forked child does. */
void jp_jit_reset_sig(void);

#endif
