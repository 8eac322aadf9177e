/* SPDX-License-Identifier: MIT
 *
 * Real time, a timer a thread: which moments are looked at, what each stands
 * for, and how much of it the thread ran, was blocked or waited for a CPU.
 * Runs in: handler. */
#ifndef JP_CLOCK_REAL_H
#define JP_CLOCK_REAL_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

struct jp_slot;

/* What a signal stands for, in ns; any part may be 0. */
struct jp_real {
    uint64_t before;      /* blocked where the thread was found last */
    uint64_t running;     /* where it is now */
    uint64_t blocked;
    uint64_t ready;       /* waiting for a CPU */
    uint64_t counted_ns;  /* what the handler's budget grows with: the thread's
                             CPU time, or its part of real time among all */
    int probes;           /* the clock's next interrupt may be waited for */
};

/* Works out what the signal of the calling thread's timer is worth.  Returns
 * whether it is a sample at all. */
int jp_clock_real_sig(struct jp_slot *slot, const siginfo_t *info,
                      const ucontext_t *context, struct jp_real *real);

/* To be called when the sample has been taken: sets the timers to the next
 * moment. */
void jp_clock_real_done_sig(struct jp_slot *slot);

/* For a thread that will get no more signals, if its strata were long or its
 * period longer than asked for: what it did until now, taken to be where it was
 * found last.  Returns whether there is anything.  May be called by another
 * thread. */
int jp_clock_real_rest_sig(struct jp_slot *slot, struct jp_real *real);

/* The period of the slot's budget has changed: the stratum under way gets its
 * length from it. */
void jp_clock_real_pace_sig(struct jp_slot *slot);

/* The beginning: when the timer is made, the first moment being first_ns from
 * now. */
void jp_clock_real_begin_sig(struct jp_slot *slot, uint64_t first_ns);

#endif
