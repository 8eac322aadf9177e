/* SPDX-License-Identifier: MIT
 *
 * The clock kind of the perf software clock, with one event for each thread
 * (perf_event_open(2)): CPU time at the full rate, whatever the kernel's tick
 * is.  No descriptor stays open: a mapping of one page keeps the event.
 *
 * The kernel refuses an event beyond the limits on locked memory (EPERM) and
 * on descriptors (EMFILE, EINVAL); the limit on pending signals does not
 * matter.  The period is never under JP_PERIOD_MIN_NS: an interrupt may take
 * 30 us and more on a virtual machine, and with periods of 10 us, which the
 * kernel allows, a thread was seen to do nothing else for half a minute.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_PERF_H
#define JP_CLOCK_PERF_H

#include "sig/state/clock_kind.h"

extern const struct jp_clock_kind jp_clock_perf;

#endif
