/* SPDX-License-Identifier: MIT
 *
 * How much of a thread's time signals may take.  A stack walk that lasts
 * longer than a period would leave the thread no time at all, and a signal
 * alone may cost half of a short period.  So each thread has an allowance,
 * which grows with the thread's time, and each signal is charged to it.  When
 * the allowance is used up, the sampling period is lengthened; when signals
 * have become cheap again, it is shortened.  No function here fails.
 * Runs in: handler. */
#ifndef JP_BUDGET_H
#define JP_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>

#include "config.h"

/* The budget of a thread, or of the process where one clock serves all threads.
 * One thread at a time uses it; whoever arms or stops the clock reads only the
 * atomic fields. */
struct jp_budget {
    _Atomic uint64_t period_ns; /* in force: as asked for, or longer */
    int64_t credit_ns;          /* allowance that is left; < 0: owed */
    uint64_t charged_ns;        /* sum of the latest charges, */
    uint32_t count;             /* and how many signals it is of */
    uint8_t wary; /* so many more signals are timed by the thread's CPU clock
                     as well: one took so long that it may have waited */
    _Atomic uint8_t settling; /* no signal has come since the period changed */
};

/* When the handler of one signal began. */
struct jp_visit {
    uint64_t begin_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;   /* the thread's CPU clock; 0: it was not read */
};

/* Fills a new budget: full credit, the period that was asked for or, once the
 * cost of an interrupt is known to need it, a longer one. */
void jp_budget_begin_sig(struct jp_budget *budget);

/* Whether the period in force is longer than the one asked for. */
static inline int jp_budget_lowered_sig(const struct jp_budget *budget)
{
    return budget->period_ns > jp_config.period_ns;
}

/* Whether a signal's weight must be read from a clock: the period is longer
 * than asked for, or the signal may be from before the period changed. */
static inline int jp_budget_exact_sig(const struct jp_budget *budget)
{
    return budget->settling || jp_budget_lowered_sig(budget);
}

/* Called when a signal's handler begins, at now_ns (CLOCK_MONOTONIC): fills
 * *visit. */
void jp_budget_enter_sig(const struct jp_budget *budget, struct jp_visit *visit,
                         uint64_t now_ns);

/* Called when that handler is done: charges its time to the budget, which grows
 * by a fifth of elapsed_ns, the thread's time that the signal stands for.
 * Returns 1 when the period has changed; the caller then sets the clock to it.
 */
int jp_budget_leave_sig(struct jp_budget *budget, const struct jp_visit *visit,
                        uint64_t elapsed_ns);

/* Charges the time since begin_ns, in which the caller set the clock to a new
 * period. */
void jp_budget_changed_sig(struct jp_budget *budget, uint64_t begin_ns);

/* Now and then measures what an interrupt costs, by reading the time until the
 * clock's next interrupt makes it leap.  The wait is not charged.  Called
 * between enter and leave, only for clocks that go on while the handler
 * runs. */
void jp_budget_probe_sig(const struct jp_budget *budget,
                         struct jp_visit *visit);

/* Called in a forked child: gives it the process's whole common allowance, for
 * its own log and map. */
void jp_budget_reset_sig(void);

#endif
