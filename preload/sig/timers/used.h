/* SPDX-License-Identifier: MIT
 *
 * What a thread has used of the CPU, by calls that a filter of the program's
 * may refuse.
 * Runs in: handler. */
#ifndef JP_USED_H
#define JP_USED_H

#include <stdint.h>

struct jp_thread;

/* For a CPU time that the kernel does not tell. */
#define JP_USED_UNKNOWN UINT64_MAX

/* The calling thread's CPU time, in ns. */
uint64_t jp_used_cpu_sig(void);

/* That of any thread of this process, or 0: a filter may forbid to ask for
 * another one's. */
uint64_t jp_used_of_sig(uint32_t tid);

/* Of a thread that has no clock of its own: the CPU time that no sample of it
 * covers, where it has used `cpu_ns` so far (0: not known); from now on that
 * counts as covered. */
uint64_t jp_used_unseen_sig(struct jp_thread *thread, uint64_t cpu_ns);

/* Of a thread that has used `cpu_ns` so far (0: not known): the CPU time since
 * its last sample, which counts as covered from now on, or 0 where that is less
 * than `least`. */
uint64_t jp_used_unsampled_sig(struct jp_thread *thread, uint64_t cpu_ns,
                               uint64_t least);

/* From one CPU time to another; 0 where it is not known. */
static inline uint64_t jp_used_since_sig(uint64_t now, uint64_t before)
{
    return now != JP_USED_UNKNOWN && now > before ? now - before : 0;
}

#endif
