/* SPDX-License-Identifier: MIT
 *
 * POSIX timers that signal their own thread (SIGEV_THREAD_ID,
 * timer_create(2)), and random times for them.  Times are in ns.
 * Runs in: handler, any thread. */
#ifndef JP_TIMER_H
#define JP_TIMER_H

#include <signal.h>
#include <stdint.h>
#include <time.h>

#include "sig/state/clock_kind.h"

struct jp_thread;

/* 64 random bits, others each time. */
uint64_t jp_clock_draw_sig(uint32_t salt);

/* A random number from 1 to `most`. */
uint64_t jp_clock_random_sig(uint32_t salt, uint64_t most);

/* Makes a timer that runs out in `first` ns and then every `period` ns (0:
 * never again).  Returns the kernel's id of it, which the caller deletes, or
 * -errno. */
int jp_clock_make_timer_sig(clockid_t clock, struct sigevent *event,
                            uint64_t first, uint64_t period);

/* Makes such a timer whose signal goes to a thread and names its record. */
int jp_clock_thread_timer_sig(const struct jp_thread *thread, clockid_t clock,
                              uint64_t first, uint64_t period);

/* Sets a timer anew; first 0 stops it.  A refusal has no effect. */
void jp_clock_set_timer_sig(int timer, uint64_t first, uint64_t period);

/* The same past the filters that jprof knows (sig/os/filter.h): for a caller
 * who has added a filter there that the kernel does not have yet. */
void jp_clock_set_timer_last_sig(int timer, uint64_t first, uint64_t period);

/* For both kinds with a POSIX timer for each thread: `owns`, `find` and
 * `disarm` of struct jp_clock_kind.  disarm deletes all timers of the
 * thread. */
int jp_clock_timer_owns_sig(const struct jp_signal *signal);
struct jp_thread *jp_clock_timer_find_sig(const struct jp_signal *signal);
void jp_clock_timer_disarm_sig(struct jp_thread *thread);

/* The weight of a timer's signal, from its overrun count (si_overrun). */
uint64_t jp_clock_weight_sig(int overrun);

#endif
