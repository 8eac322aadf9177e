/* SPDX-License-Identifier: MIT
 *
 * The process's own profiling timer, setitimer(2) with ITIMER_PROF, as in the
 * original.  One for all threads; whoever runs at the tick is sampled.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_ITIMER_H
#define JP_CLOCK_ITIMER_H

#include <signal.h>
#include <stdint.h>

struct jp_budget;

/* Sets the timer, or stops it. */
void jp_clock_itimer_run_sig(int on);

/* Whether a signal comes from such a timer: the kernel says no more. */
int jp_clock_itimer_is_sig(int signal, const siginfo_t *info);

/* The timer's budget, for one thread at a time: NULL when another has it.  It
 * is given back with whether its period has changed; then the timer is set. */
struct jp_budget *jp_clock_itimer_take_sig(void);
void jp_clock_itimer_give_sig(int changed);

/* What a signal stands for: the CPU time of the process since the last. */
uint64_t jp_clock_itimer_weight_sig(void);

/* The same when a thread or the profile ends, for ticks that were not
 * delivered: 0 up to a tick. */
uint64_t jp_clock_itimer_overdue_sig(void);

#endif
