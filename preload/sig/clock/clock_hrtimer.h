/* SPDX-License-Identifier: MIT
 *
 * The clock kind of CPU time by one high-resolution timer for each thread
 * (Documentation/timers/hrtimers.rst in Linux), and the calls by which the
 * hooks tell it that a thread begins or ends a wait.
 * Runs in: handler, any thread, the hooks. */
#ifndef JP_CLOCK_HRTIMER_H
#define JP_CLOCK_HRTIMER_H

#include <stdint.h>

#include "sig/state/clock_kind.h"

struct jp_thread;

extern const struct jp_clock_kind jp_clock_hrtimer;

/* Called by a hook, in its thread, before a call that may wait.  frame: an
 * address in the hook's stack frame.  call: names the hook; the timer is
 * stopped before the call where such calls lately waited until it expired.
 * Returns the frame of the hook around this one, or 0, for leave_wait. */
uint64_t jp_hrtimer_enter_wait_sig(struct jp_thread *thread, uint64_t frame,
                                   uint64_t call);

/* Called by the hook after that call: sets the timer again if it was stopped
 * before or during the call. */
void jp_hrtimer_leave_wait_sig(struct jp_thread *thread, uint64_t outer);

/* Called before a handler of the program's, which may have interrupted a wait:
 * sets the thread's timer again if it is stopped. */
void jp_hrtimer_before_handler_sig(struct jp_thread *thread);

/* Sets the thread's timer again if it is stopped: the calling thread is about
 * to compute.  Keeps nothing else. */
void jp_hrtimer_resume_sig(struct jp_thread *thread);

#endif
