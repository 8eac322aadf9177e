/* SPDX-License-Identifier: MIT
 *
 * The perf software clock, one event a thread (perf_event_open(2)): CPU time
 * at full rate, not bound to the kernel's tick.  No descriptor stays open: the
 * event lives in a mapping of one page.
 *
 * The limits on locked memory (EPERM) and on descriptors (EMFILE, EINVAL)
 * count, that on pending signals does not.  The period is never under
 * JP_PERIOD_MIN_NS.  An interrupt may take 30 us and more on a virtual
 * machine; with periods of 10 us, which is what the kernel allows, a thread
 * was seen to do nothing else for half a minute.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_PERF_H
#define JP_CLOCK_PERF_H

#include "sig/state/clock_kind.h"

extern const struct jp_clock_kind jp_clock_perf;

#endif
