/* SPDX-License-Identifier: MIT
 *
 * The clock kind of real time, with one timer for each thread: at which moments
 * a thread is sampled, how much time each moment stands for, and whether the
 * thread ran, was blocked or waited for a CPU.
 * Runs in: handler. */
#ifndef JP_CLOCK_REAL_H
#define JP_CLOCK_REAL_H

#include "sig/state/clock_kind.h"

extern const struct jp_clock_kind jp_clock_real;

#endif
