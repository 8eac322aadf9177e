/* SPDX-License-Identifier: MIT
 *
 * Calls that a signal ends early: whether it was jprof's alone, so that the
 * hook makes the call again, or one of the program's, too.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_RETRY_H
#define JP_RETRY_H

#include <poll.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#include "local.h"

struct jp_retry {
    struct jp_slot *slot;
    uint32_t runs, shared, theirs;
};

/* Before a call.  Returns 0 where no signal of jprof's can come: then the call
 * is made as it is. */
int jp_retry_begin(struct jp_retry *retry);

/* After a call that failed with EINTR, or did less than it was asked to:
 * whether jprof's handler ran since the last question (in another thread, for a
 * signal to the process: that may have woken this one first), and none of the
 * program's since the beginning.  errno is kept. */
int jp_retry_ours(struct jp_retry *retry);

/* The same after EINTR alone: where no handler of the program's ran, it was one
 * of jprof's signals most likely, and the thread that got it is waited for (for
 * 100 ms at most; also who is stopped and continued comes here). */
int jp_retry_interrupted(struct jp_retry *retry);

/* Whether none of the program's handlers ran since the beginning. */
int jp_retry_undisturbed(const struct jp_retry *retry);

/* For a call that can be made with a mask of its own (ppoll and its like):
 * blocks every signal but the clock's and those that do nothing, and asks again
 * whether a handler of the program's ran; so none is missed between question
 * and call.  Returns whether
 * the call may be made, with the mask in *before; then comes unseal, by
 * pthread_cleanup_push and pop, since the call may be where the thread is
 * cancelled. */
int jp_retry_seal(const struct jp_retry *retry, uint64_t *before);
void jp_retry_unseal(void *before);

/* ppoll until a moment of jp_retry_now, made like that, and again as long as
 * only jprof's signals end it.  Returns how many are ready, 0 when the time is
 * over, or -errno: -EINTR when a handler of the program's ran. */
int jp_retry_poll(struct jp_retry *retry, struct pollfd *fds, nfds_t count,
                  int64_t deadline);

/* In a handler of the program's that is to end calls (without SA_RESTART),
 * before it does anything, with its context.  Where jprof's handler came first,
 * the kernel has the call made again when both have returned, and the thread
 * would go on waiting: has it fail with EINTR instead. */
void jp_retry_cut_off(ucontext_t *context);

/* Moments of CLOCK_MONOTONIC in ns. */
#define JP_NEVER INT64_MAX
int64_t jp_retry_now(void);

/* The moment `wait` from now; NULL: JP_NEVER. */
int64_t jp_retry_deadline(const struct timespec *wait);

/* The time left until then, not under 0. */
struct timespec jp_retry_left(int64_t deadline);

#endif
