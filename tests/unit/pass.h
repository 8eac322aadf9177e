/* SPDX-License-Identifier: MIT
 *
 * The passes that tests make in the handler's place.
 * Runs in: tests. */
#ifndef JP_TEST_PASS_H
#define JP_TEST_PASS_H

#include "../../preload/sig/clock/clock.h"

/* A pass of a clock's signal at thread. */
static inline struct jp_pass pass_of(struct jp_thread *thread,
                                     const struct jp_signal *signal)
{
    return (struct jp_pass){.thread = thread, .signal = *signal};
}

/* Whether samples are due at a signal of a clock that never has stacks
 * compared; *due: what they stand for. */
static inline int take_due(const struct jp_clock_kind *kind,
                           struct jp_thread *thread,
                           const struct jp_signal *signal, struct jp_due *due)
{
    struct jp_pass pass = pass_of(thread, signal);
    const enum jp_observed observed = kind->observe(&pass);
    if (observed == JP_OBSERVED_DUE)
        jp_clock_account_sig(kind, &pass);
    assert_int_not_equal(observed, JP_OBSERVED_COMPARE);
    *due = pass.due;
    return observed == JP_OBSERVED_DUE;
}

#endif
