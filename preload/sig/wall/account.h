/* SPDX-License-Identifier: MIT
 *
 * The third stage of the clock of real time: the time that a sample stands for,
 * in parts: the thread ran, was blocked, or waited for a CPU.  Pure functions:
 * they read their arguments alone, and write `balance` and the result.
 * Runs in: handler. */
#ifndef JP_ACCOUNT_H
#define JP_ACCOUNT_H

#include <stdint.h>

#include "given.h"
#include "sig/state/pass.h"
#include "sig/state/wall.h"

struct jp_accounted {
    struct jp_due *due;  /* filled */
    uint64_t begin_ns;   /* where the next stratum begins */
    uint64_t late_ns;    /* how long after its moment the signal was handled */
    uint64_t looking_ns; /* CPU time that was jprof's own doing */
    uint64_t learned_ns; /* CPU time that this look cost a waiting thread; only
                            if learns is set */
    uint8_t learns;
};

/* Adds the CPU time since the last handler began to the time that samples must
 * cover, but for the part that jprof's signals themselves took while the thread
 * waited. */
void jp_account_used_sig(struct jp_wall *wall, const struct jp_given *given,
                         const struct jp_look *look,
                         struct jp_accounted *result);

/* Gives the time that the sample stands for to the thread's state at it.
 * length_ns: of the next stratum.  Returns the time by which given_ns grew. */
uint64_t jp_account_sample_sig(struct jp_wall *wall,
                               const struct jp_given *given,
                               const struct jp_look *look, uint64_t length_ns,
                               struct jp_accounted *result);

/* The weight of a sample of CPU time: that of the strata whose moments have
 * come when the thread has used used_ns; the first one behind them begins.
 * period_ns: of the strata behind the current one. */
uint64_t jp_account_cpu_sig(struct jp_cpu_strata *strata, uint64_t period_ns,
                            uint64_t used_ns, uint64_t random);

/* The time up to until_ns that no sample covers when the thread or its profile
 * ends, taken to have passed where the last signal found the thread.  No more
 * is to come.  Returns whether there is any; sets result->looking_ns in any
 * case, unless this was called before (given_ns is 0). */
int jp_account_rest_sig(struct jp_wall *wall, const struct jp_end *end,
                        uint64_t cost_ns, uint64_t until_ns,
                        struct jp_accounted *result);

#endif
