/* SPDX-License-Identifier: MIT
 *
 * Calls that a signal ends early: whether it was jprof's alone, so that the
 * hook makes the call again, or one of the program's, too.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_RETRY_H
#define JP_RETRY_H

#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#include "local.h"

struct jp_retry {
    struct jp_thread *thread;
    uint32_t runs, shared, theirs;
};

/* Before a call.  Returns 0 where no signal of jprof's can come: then the call
 * is made as it is. */
int jp_retry_begin(struct jp_retry *retry);

/* After a call that failed with EINTR, or did less than it was asked to:
 * whether jprof's handler ran since the last question (in another thread, for a
 * signal to the process: that may have woken this one first), and none of the
 * program's since the beginning.  errno is kept. */
int jp_retry_take_ours(struct jp_retry *retry);

/* The same after EINTR alone: where no handler of the program's ran, it was one
 * of jprof's signals most likely, and the thread that got it is waited for (for
 * 100 ms at most; also who is stopped and continued comes here). */
int jp_retry_interrupted(struct jp_retry *retry);

/* Whether none of the program's handlers ran since the beginning. */
int jp_retry_undisturbed(const struct jp_retry *retry);

/* The first core of the hooks: makes `call`, which is -1 with errno, until it
 * is done or a handler of the program's ran. */
#define JP_AGAIN(call)                                                         \
    ({                                                                         \
        struct jp_retry retry_;                                                \
        const int may_ = jp_retry_begin(&retry_);                              \
        __typeof__(call) result_;                                              \
        do                                                                     \
            result_ = call;                                                    \
        while (result_ < 0 && errno == EINTR && may_ &&                        \
               jp_retry_interrupted(&retry_));                                 \
        result_;                                                               \
    })

/* The same for a call that can be made with a mask of its own (ppoll and its
 * like), once: every signal but the clock's and those that do nothing is
 * blocked, and it is asked again whether a handler of the program's ran; so
 * none is missed between question and call.  `again` makes the call with the
 * mask that it finds; the thread may be cancelled in it.  Returns its result,
 * or -1 with EINTR. */
int jp_retry_masked(const struct jp_retry *retry,
                    int (*again)(void *subject, const sigset_t *mask),
                    void *subject);

/* In a handler of the program's that is to end calls (without SA_RESTART),
 * before it does anything, with its context.  Where jprof's handler came first,
 * the kernel has the call made again when both have returned, and the thread
 * would go on waiting: has it fail with EINTR instead. */
void jp_retry_force_eintr(ucontext_t *context);

/* Moments of CLOCK_MONOTONIC in ns. */
#define JP_NEVER INT64_MAX
int64_t jp_retry_now(void);

/* The moment `wait` from now; NULL: JP_NEVER. */
int64_t jp_retry_deadline(const struct timespec *wait);

/* The time left until then, not under 0. */
struct timespec jp_retry_left(int64_t deadline);

#endif
