/* SPDX-License-Identifier: MIT
 *
 * What a sample of real time stands for: how much of it the thread ran, was
 * blocked, or waited for a CPU.
 * Runs in: handler. */
#ifndef JP_WEIGH_H
#define JP_WEIGH_H

#include <stdint.h>

struct jp_due;
struct jp_found;
struct jp_thread;
struct jp_watch;

/* CPU time of a call in which a thread waited, at most, in ns. */
#define JP_WEIGH_CALL_NS 100000U

static inline uint64_t jp_weigh_less_sig(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Adds the CPU time since the last handler began to what samples must cover,
 * but for what jprof's signals themselves took while the thread waited. */
void jp_weigh_count_sig(struct jp_watch *watch, const struct jp_found *found);

/* Gives the stratum's time to what was found at its moment. */
void jp_weigh_give_sig(struct jp_thread *thread, const struct jp_found *found,
                       struct jp_due *weight);

/* Weighs the end of a wait, after which the thread used found->used of CPU time
 * and lacked a CPU for found->held_ns. */
void jp_weigh_end_sig(struct jp_watch *watch, const struct jp_found *found,
                      struct jp_due *weight);

#endif
