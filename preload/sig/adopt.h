/* SPDX-License-Identifier: MIT
 *
 * Threads that the pthread_create hook has not seen.  Their records are made
 * when the process's slow timer (process_timer.h) interrupts such a thread or
 * a search finds it in /proc/self/task, and are freed when a search finds that
 * the thread is gone.
 * Runs in: handler, any thread. */
#ifndef JP_ADOPT_H
#define JP_ADOPT_H

#include <stdint.h>

struct jp_thread;

/* Called when a profile starts: makes a record for every thread that has none,
 * and frees those of dead threads.  Costs time linear in the threads; gives up
 * when another thread's search does not end. */
void jp_adopt_all_sig(void);

/* Called at signals of other clocks: where the kernel refused the slow timer,
 * does jp_adopt_step_sig, at most ten times a second.  now_ns:
 * CLOCK_MONOTONIC. */
void jp_adopt_poll_without_timer_sig(uint64_t now_ns);

/* Called at each signal of the slow timer: does a bounded part of the search
 * for new threads and of that for records of dead ones. */
void jp_adopt_step_sig(void);

/* Called before a running profile stops, and before its process ends or
 * executes another program: counts the CPU time of the process's kernel threads
 * (kernel_threads.h) until now. */
void jp_adopt_settle_sig(void);

/* Whether a thread without a record is to be adopted.  A thread that has given
 * its record back is not, unless it has used another millisecond of CPU
 * time. */
int jp_adopt_has_run_sig(uint32_t tid);

/* Makes a live record for the calling thread, which has none.  stack_high:
 * where its stack ends, 0: unknown.  NULL when there are no more records. */
struct jp_thread *jp_adopt_self_sig(uint64_t stack_high);

/* Makes the record that the hook has taken live for the calling thread, tid.
 * Retires another record of that id: one that a search made meanwhile, or one
 * left by a dead thread. */
void jp_adopt_begin_sig(struct jp_thread *thread, uint32_t tid);

/* Called in a forked child: forgets a search that another thread of the parent
 * was doing. */
void jp_adopt_reset_sig(void);

#endif
