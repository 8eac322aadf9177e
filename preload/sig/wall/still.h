/* SPDX-License-Identifier: MIT
 *
 * Whether a thread has stayed in its wait, where a filter of the program's
 * (Chromium's) keeps the kernel from telling how often it has blocked.
 * Runs in: handler. */
#ifndef JP_STILL_H
#define JP_STILL_H

#include <stdint.h>
#include <ucontext.h>

struct jp_thread;

/* A hash of the leaf-most part of the interrupted thread's stack, never 0: a
 * thread that leaves its wait and comes back to it has mostly changed something
 * there (a deadline, a count, a saved register).  0: that stack is unknown. */
uint64_t jp_still_print_sig(const struct jp_thread *thread,
                            const ucontext_t *context);

#endif
