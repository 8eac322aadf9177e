/* SPDX-License-Identifier: MIT
 *
 * The clock kind of the process's profiling timer, setitimer(2) with
 * ITIMER_PROF, as in the original jprof.  One timer serves all threads; the
 * thread that runs at the tick is sampled.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_ITIMER_H
#define JP_CLOCK_ITIMER_H

#include "sig/state/clock_kind.h"

extern const struct jp_clock_kind jp_clock_itimer;

/* The same of real time, by ITIMER_REAL: used only where the kernel refuses the
 * timers of jp_clock_real. */
extern const struct jp_clock_kind jp_clock_alarm;

#endif
