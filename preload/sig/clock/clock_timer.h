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

#include "sig/state/clock_kind.h"

struct jp_thread;

/* CPU time, a timer a thread. */
extern const struct jp_clock_kind jp_clock_timer;

/* The CPU clock of any thread of the process. */
clockid_t jp_clock_of_thread_sig(uint32_t tid);

/* A number from 1 to `most`, another each time. */
uint64_t jp_clock_random_sig(uint32_t salt, uint64_t most);

/* A number that says nothing of `value`, the same each time. */
uint64_t jp_clock_hash_sig(uint64_t value);

/* Makes a timer that runs out in `first` ns and then every `period` ns (0:
 * not again).  Returns the kernel's id of it, or -errno. */
int jp_clock_make_timer_sig(clockid_t clock, struct sigevent *event,
                            uint64_t first, uint64_t period);

/* Makes a timer as above whose signal goes to the record's thread and carries
 * the record. */
int jp_clock_thread_timer_sig(const struct jp_thread *thread, clockid_t clock,
                              uint64_t first, uint64_t period);

/* Sets a timer anew; first: 0 stops it. */
void jp_clock_set_timer_sig(int timer, uint64_t first, uint64_t period);

/* The same for who has said already that a filter of the program's is about to
 * be there: the call itself, which jp_sys_sig would not make any more. */
void jp_clock_set_timer_last_sig(int timer, uint64_t first, uint64_t period);

/* Of the two kinds with a POSIX timer a thread: whether a signal is of such a
 * timer, whose, and what it stands for without a record.  Disarming deletes all
 * the record's timers. */
int jp_clock_timer_owns_sig(const struct jp_signal *signal);
struct jp_thread *jp_clock_timer_find_sig(const struct jp_signal *signal);
void jp_clock_timer_disarm_sig(struct jp_thread *thread);

/* Has the periods of a CPU timer begin now. */
void jp_clock_timer_restart_sig(struct jp_thread *thread);

/* The weight of a timer's signal in ns, from its overrun count. */
uint64_t jp_clock_weight_sig(int overrun);

#endif
