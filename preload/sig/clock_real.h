/* SPDX-License-Identifier: MIT
 *
 * Real time, a timer a thread: how much of it the thread ran and how much it
 * was blocked, and leaving a thread alone that stays blocked.
 * Runs in: handler. */
#ifndef JP_CLOCK_REAL_H
#define JP_CLOCK_REAL_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

struct jp_slot;

/* What a signal stands for.  The parts may be 0. */
struct jp_real {
    uint64_t running_ns;
    uint64_t blocked_ns;
    int before;           /* the blocked part was spent where the last sample
                             was taken, not where the thread is now */
    uint64_t counted_ns;  /* what the handler's budget grows with: the thread's
                             CPU time, or its part of real time among all */
};

/* Works out what the signal of the calling thread's timer is worth.  Returns
 * whether it is a sample at all. */
int jp_clock_real_sig(struct jp_slot *slot, const siginfo_t *info,
                      const ucontext_t *context, struct jp_real *real);

/* To be called when the sample has been taken: sets the timers anew where the
 * thread is to be left alone, or no longer. */
void jp_clock_real_done_sig(struct jp_slot *slot);

/* The same for a thread that is left alone, or sampled at a longer period than
 * was asked for, and will get no more signals: what it did until now.  May be
 * called by another thread. */
int jp_clock_real_rest_sig(struct jp_slot *slot, struct jp_real *real);

/* The beginning: when the timer is made, the first period ending in first_ns
 * from now. */
void jp_clock_real_begin_sig(struct jp_slot *slot, uint64_t first_ns);

#endif
