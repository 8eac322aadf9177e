/* SPDX-License-Identifier: MIT
 *
 * The CPU time of threads that were refused a clock of their own: signals of
 * the process's slow timer find them, each standing for all that the thread has
 * used since the last one.
 * Runs in: handler, any thread. */
#ifndef JP_UNSEEN_H
#define JP_UNSEEN_H

#include <stdint.h>

struct jp_thread;

/* Returns the CPU time, in ns, that a signal of the process's slow timer stands
 * for in the calling thread, and begins anew: jp_clock_take_carried_sig and,
 * for a thread that was refused its own timer, the time since the last call.
 * Tries to arm such a thread again. */
uint64_t jp_unseen_signal_sig(struct jp_thread *thread);

/* Returns the CPU time, in ns, that such a thread has used since then, once.
 * Another thread may call it, as the profile ends, after jp_unseen_share_sig:
 * where a filter forbids to read the thread's clock, it is the thread's share.
 */
uint64_t jp_unseen_left_sig(struct jp_thread *thread);

/* Works out these shares.  Called as the profile ends or pauses, before any
 * jp_unseen_left_sig. */
void jp_unseen_share_sig(void);

#endif
