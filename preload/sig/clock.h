/* SPDX-License-Identifier: MIT
 *
 * The timers that interrupt the threads.
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_H
#define JP_CLOCK_H

#include <stdint.h>

struct jp_slot;

/* Sets the clock and its signal (jp_process.clock, .signal) by the flags. */
void jp_clock_choose_sig(void);

/* Makes the slot's timer, or deletes it.  Does nothing when that is done
 * already, or being done by another thread. */
void jp_clock_arm_sig(struct jp_slot *slot);
void jp_clock_disarm_sig(struct jp_slot *slot);

/* Makes a slot that nobody arms any more, for the end of its thread.  Its
 * last signals have come when this returns. */
void jp_clock_end_sig(struct jp_slot *slot);

/* Arms, or disarms, all live slots. */
void jp_clock_all_sig(int arm);

/* JP_FIRST: has the clock's signal sent once with the value for START, after
 * that much CPU time of the process (JP_REALTIME: of real time). */
void jp_clock_first_sig(void);

/* The weight of a slot's timer signal: weight_ns, but for the first signal of
 * a thread, which may have been set to come early; 0: it is worth nothing. */
uint64_t jp_clock_early_sig(struct jp_slot *slot, uint64_t weight_ns);

/* The weight of a timer's signal in ns, from its overrun count. */
uint64_t jp_clock_weight_sig(int overrun);

#endif
