/* SPDX-License-Identifier: MIT
 *
 * The clock kind that counts CPU time by one timer for each thread.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_TIMER_H
#define JP_CLOCK_TIMER_H

#include "sig/state/clock_kind.h"

extern const struct jp_clock_kind jp_clock_timer;

#endif
