/* SPDX-License-Identifier: MIT
 *
 * How much of a thread's time the handler may take.  A walk that takes longer
 * than a period would leave the thread none at all, and a signal alone may
 * cost half of a short one.  So a thread has an allowance that grows with its
 * time, each signal is charged to it, and when it is used up the period is
 * lengthened.  It goes back when signals have become cheap again.
 * Runs in: handler. */
#ifndef JP_BUDGET_H
#define JP_BUDGET_H

#include <stdatomic.h>
#include <stdint.h>

#include "config.h"

/* Of a thread, or of the process where it has one clock; used by one thread
 * at a time.  Whoever arms or stops the clock reads what is atomic. */
struct jp_budget {
    _Atomic uint64_t period_ns; /* in force: as asked for, or longer */
    int64_t credit_ns;          /* allowance left */
    uint64_t charged_ns;        /* of late: the sum of charges, */
    uint32_t count;             /* and of how many signals */
    uint8_t wary;             /* signals that are timed by the CPU clock, too */
    _Atomic uint8_t settling; /* the period has changed since the last
                                   signal */
};

/* One signal: when its handler began. */
struct jp_visit {
    uint64_t begin_ns; /* CLOCK_MONOTONIC */
    uint64_t cpu_ns;   /* of the thread; 0: not asked for */
};

/* Opens a budget. */
void jp_budget_begin_sig(struct jp_budget *budget);

/* Whether the period is longer than asked for. */
static inline int jp_budget_lowered_sig(const struct jp_budget *budget)
{
    return budget->period_ns > jp_config.period_ns;
}

/* Whether what a signal is worth is to be read from a clock: it may be from
 * before a change of the period. */
static inline int jp_budget_exact_sig(const struct jp_budget *budget)
{
    return budget->settling || jp_budget_lowered_sig(budget);
}

/* A signal's handler begins, at now_ns, and is done; elapsed_ns: the time of
 * the thread's that it stands for.  Returns whether the period has changed:
 * then the clock is to be set to it. */
void jp_budget_enter_sig(const struct jp_budget *budget, struct jp_visit *visit,
                         uint64_t now_ns);
int jp_budget_leave_sig(struct jp_budget *budget, const struct jp_visit *visit,
                        uint64_t elapsed_ns);

/* Charges what setting the clock took. */
void jp_budget_changed_sig(struct jp_budget *budget, uint64_t begin_ns);

/* Now and then finds out what an interrupt costs, by waiting for the clock's
 * next one; the wait is not charged.  To be called between the two above,
 * where the clock goes on while the handler runs. */
void jp_budget_probe_sig(const struct jp_budget *budget,
                         struct jp_visit *visit);

/* In a forked child: it has set-up costs of its own. */
void jp_budget_reset_sig(void);

#endif
