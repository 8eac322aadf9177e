/* SPDX-License-Identifier: MIT
 *
 * POSIX timers that signal their own thread (SIGEV_THREAD_ID,
 * timer_create(2)).
 * Runs in: handler, any thread. */
#ifndef JP_CLOCK_TIMER_H
#define JP_CLOCK_TIMER_H

#include <signal.h>
#include <stdint.h>
#include <time.h>

struct jp_slot;

/* The CPU clock of any thread of the process. */
clockid_t jp_clock_of_thread_sig(uint32_t tid);

/* A number from 1 to `most`, another each time. */
uint64_t jp_clock_random_sig(uint32_t salt, uint64_t most);

/* Makes a timer that runs out in `first` ns and then every `period` ns (0:
 * not again).  Returns the kernel's id of it, or -errno. */
int jp_clock_make_timer_sig(clockid_t clock, struct sigevent *event,
                            uint64_t first, uint64_t period);

/* Makes a timer as above whose signal goes to the slot's thread and carries
 * the slot. */
int jp_clock_slot_timer_sig(const struct jp_slot *slot, clockid_t clock,
                            uint64_t first, uint64_t period);

/* Sets a timer anew; first: 0 stops it. */
void jp_clock_set_timer_sig(int timer, uint64_t first, uint64_t period);

/* Makes the slot's timer on its thread's CPU clock (JP_CLOCK_THREAD_CPU) or on
 * CLOCK_MONOTONIC.  Returns 0 or -errno. */
int jp_clock_timer_arm_sig(struct jp_slot *slot, uint32_t source);
void jp_clock_timer_disarm_sig(struct jp_slot *slot);

/* The weight of a slot's timer signal: weight_ns, but for the first signal of
 * a thread, which may have been set to come early, and where the period is
 * longer than asked for; 0: it is worth nothing. */
uint64_t jp_clock_early_sig(struct jp_slot *slot, uint64_t weight_ns);

/* Of a thread whose CPU timer has run out now and then: the periods that ended
 * more than late_ns ago and were not noticed, in ns; they are now.  A busy
 * virtual machine does not deliver every tick. */
uint64_t jp_clock_timer_overdue_sig(struct jp_slot *slot, uint64_t late_ns);

/* Sets the slot's timer to the period of its budget. */
void jp_clock_timer_pace_sig(struct jp_slot *slot);

/* Has the periods of a CPU timer begin now. */
void jp_clock_timer_restart_sig(struct jp_slot *slot);

/* The weight of a timer's signal in ns, from its overrun count. */
uint64_t jp_clock_weight_sig(int overrun);

#endif
