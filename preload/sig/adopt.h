/* SPDX-License-Identifier: MIT
 *
 * Threads that nobody announced: made past the pthread_create hook, they are
 * found by the process's slow timer (process_timer.h), which interrupts
 * whoever runs, and in /proc/self/task; and their records are freed when they
 * are gone.
 * Runs in: handler, any thread. */
#ifndef JP_ADOPT_H
#define JP_ADOPT_H

#include <stdint.h>

struct jp_thread;

/* Finds every thread there is (at a start) and gives it a record. */
void jp_adopt_all_sig(void);

/* To be called now and then where another clock's signals come: where the
 * timer was refused, they do its work, at most ten times a second. */
void jp_adopt_poll_without_timer_sig(uint64_t now_ns);

/* A bounded piece of the search for new threads and for the records of dead
 * ones.  Called at each signal of the timer. */
void jp_adopt_step_sig(void);

/* Whether a thread without a record is to have one: not in the moment between
 * giving it back and the thread's end. */
int jp_adopt_has_run_sig(uint32_t tid);

/* Opens a record for the calling thread, which has none and whose stack ends at
 * stack_high (0: not known).  NULL when there are no more. */
struct jp_thread *jp_adopt_self_sig(uint64_t stack_high);

/* Makes the record of a thread of the hook's live, for the calling thread, tid;
 * takes away one that the search gave it meanwhile, or that is left of another
 * thread with its id. */
void jp_adopt_begin_sig(struct jp_thread *thread, uint32_t tid);

/* Forgets a search that another thread was at when this process forked. */
void jp_adopt_reset_sig(void);

#endif
