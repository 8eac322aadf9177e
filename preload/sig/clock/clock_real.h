/* SPDX-License-Identifier: MIT
 *
 * Real time, a timer a thread: which moments are looked at, what each stands
 * for, and how much of it the thread ran, was blocked or waited for a CPU.
 * Runs in: handler. */
#ifndef JP_CLOCK_REAL_H
#define JP_CLOCK_REAL_H

#include "sig/state/clock_kind.h"

extern const struct jp_clock_kind jp_clock_real;

#endif
