/* SPDX-License-Identifier: MIT
 *
 * The pure stages of the clock of real time in their order: what a sample
 * stands for, and the stratum behind it.
 * Runs in: handler. */
#ifndef JP_ESTIMATE_H
#define JP_ESTIMATE_H

#include "account.h"
#include "schedule.h"

/* A sample, whose stacks have been compared: fills result->due and the other
 * results, and begins the next stratum. */
void jp_estimate_sample_sig(struct jp_wall *wall, const struct jp_given *given,
                            const struct jp_draw *draw,
                            const struct jp_look *look,
                            struct jp_accounted *result);

/* A signal that takes no sample.  skipped: it is one of a timer that goes on by
 * itself.  Returns whether the look must be remembered: the next signal is
 * compared with it. */
int jp_estimate_skip_sig(struct jp_wall *wall, const struct jp_given *given,
                         const struct jp_look *look, int skipped,
                         struct jp_accounted *result);

#endif
