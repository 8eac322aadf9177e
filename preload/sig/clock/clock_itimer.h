/* SPDX-License-Identifier: MIT
 *
 * The process's own profiling timer, setitimer(2) with ITIMER_PROF, as in the
 * original.  One for all threads; whoever runs at the tick is sampled.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_ITIMER_H
#define JP_CLOCK_ITIMER_H

#include "sig/state/clock_kind.h"

extern const struct jp_clock_kind jp_clock_itimer;

#endif
