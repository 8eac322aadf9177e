/* SPDX-License-Identifier: MIT
 *
 * The perf software clock, one event a thread (perf_event_open(2)): CPU time
 * at full rate, not bound to the kernel's tick.  No descriptor stays open: the
 * event lives in a mapping of one page.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_PERF_H
#define JP_CLOCK_PERF_H

#include <signal.h>
#include <stdint.h>

struct jp_slot;

/* Whether this process may have such events with the kernel's time in them:
 * without it, what a program spends in the kernel would go unseen. */
int jp_clock_perf_allowed_sig(void);

/* Makes the event of a slot that the caller holds, or ends it.  What the
 * thread did up to now is for others to count.  Returns 0 or -errno: the
 * limits on locked memory (EPERM) and on descriptors (EMFILE, EINVAL) count,
 * that on pending signals does not.
 *
 * The period is never under JP_PERIOD_MIN_NS.  An interrupt may take 30 us and
 * more on a virtual machine; with periods of 10 us, which is what the kernel
 * allows, a thread was seen to do nothing else for half a minute. */
int jp_clock_perf_arm_sig(struct jp_slot *slot);

/* Makes it anew with the period of the slot's budget; what was counted since
 * the last sample is not lost.  Returns as above. */
int jp_clock_perf_pace_sig(struct jp_slot *slot);

/* What a slot's event has counted since the last sample, in ns, once; 0 up to
 * least_ns. */
uint64_t jp_clock_perf_rest_sig(struct jp_slot *slot, uint64_t least_ns);
void jp_clock_perf_disarm_sig(struct jp_slot *slot);

/* Whether a signal is of such an event.  It may be gone since: the clock has
 * moved, or was stopped. */
int jp_clock_perf_value_sig(const siginfo_t *info);

/* The slot of the calling thread, whose event the signal is of and whose stack
 * pointer was sp; NULL when the event has ended since. */
struct jp_slot *jp_clock_perf_slot_sig(const siginfo_t *info, uint64_t sp);

/* What a signal of the event that comes at now_ns is worth, in ns; 0:
 * nothing. */
uint64_t jp_clock_perf_weight_sig(struct jp_slot *slot, uint64_t now_ns);

#endif
