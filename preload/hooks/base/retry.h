/* SPDX-License-Identifier: MIT
 *
 * Calls that a signal ended early: whether only jprof's handler ran, so that
 * the hook makes the call again, or a handler of the program's, too.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_RETRY_H
#define JP_RETRY_H

#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <ucontext.h>

#include "local.h"
#include "sig/arch/arch.h"

/* The counts of handlers when a call began, or when they were last compared. */
struct jp_retry {
    struct jp_thread *thread;
    uint32_t runs;          /* jp_thread_hooks.runs */
    uint32_t shared;        /* jp_process.shared */
    uint32_t told, handled; /* jp_thread_hooks.told and jp_process.handled
                               when the call began */
    uint32_t theirs;        /* jp_local.theirs */
    uint64_t outer;         /* of jp_hrtimer_enter_wait_sig */
};

/* Declares a struct jp_retry whose call ends where its scope does. */
#define JP_RETRY(name)                                                         \
    struct jp_retry name __attribute__((cleanup(jp_retry_end))) = {0}

/* Called before a call.  Returns 0 where no signal of jprof's can come; the
 * hook then makes the call as it is. */
int jp_retry_begin(struct jp_retry *retry);

/* The same; call: names the hook (jp_hrtimer_enter_wait_sig). */
int jp_retry_begin_as(struct jp_retry *retry, const void *call);

/* Called when the hook is done, whether or not the call was begun. */
void jp_retry_end(struct jp_retry *retry);

/* Called after a call that failed with EINTR or did less than it was asked to.
 * True if jprof's handler ran since the previous call of this function (or of
 * begin), and none of the program's since begin.  The handler may have run in
 * another thread for a signal to the process, which may first have woken this
 * one.  Keeps errno. */
int jp_retry_take_ours(struct jp_retry *retry);

/* The same for a call that failed with EINTR.  If no handler of the program's
 * ran, jprof's signal is the likely cause although its handler was not counted
 * yet: waits for the thread that handles it, for 100 ms of time or 10 ms of
 * CPU time, whichever is longer, unless another thread tells it that it has run
 * a handler of the program's for a signal to the process.  (A thread that was
 * stopped and continued gets here, too.) */
int jp_retry_interrupted(struct jp_retry *retry);

/* Whether no handler of the program's ran since begin: in this thread, or in
 * another for a signal to the process that would have ended this one's call. */
int jp_retry_undisturbed(const struct jp_retry *retry);

/* Called just before and just after the C library's function of a call that
 * SA_RESTART makes again, between which the thread makes that system call and
 * no other: jprof's handler has it fail with EINTR when another thread has run
 * a handler of the program's that was to end it. */
static inline void jp_retry_enter(const struct jp_retry *retry)
{
    atomic_store_explicit(&retry->thread->hooks.entered,
                          JP_ENTERED | retry->handled, memory_order_release);
    jp_arch_first_time();
}

static inline void jp_retry_leave(const struct jp_retry *retry)
{
    atomic_store_explicit(&retry->thread->hooks.entered, 0,
                          memory_order_release);
}

/* Called before a handler of the program's, which may interrupt such a call;
 * returns what jp_retry_back is to have after it.  A handler that leaves by a
 * jump leaves the call, too. */
uint64_t jp_retry_out(void);
void jp_retry_back(uint64_t entered);

/* Makes such a call once.  Is its result.  may: jp_retry_begin's. */
#define JP_RETRY_IN(retry, may, call)                                          \
    ({                                                                         \
        if (may)                                                               \
            jp_retry_enter(retry);                                             \
        const __typeof__(call) in_ = call;                                     \
        if (may)                                                               \
            jp_retry_leave(retry);                                             \
        in_;                                                                   \
    })

/* The first core of the hooks, "again": makes `call`, which returns -1 and
 * sets errno, again and again until it is done or a handler of the program's
 * ran.  Is the call's last result. */
#define JP_AGAIN(call)                                                         \
    ({                                                                         \
        JP_RETRY(retry_);                                                      \
        const int may_ = jp_retry_begin(&retry_);                              \
        __typeof__(call) result_;                                              \
        do                                                                     \
            result_ = JP_RETRY_IN(&retry_, may_, call);                        \
        while (result_ < 0 && errno == EINTR && may_ &&                        \
               jp_retry_interrupted(&retry_));                                 \
        result_;                                                               \
    })

/* The same for a call that waits for a time: `call` uses `left`, a const struct
 * timespec *, which is `timeout` at first and then the time that is left.
 * timeout: NULL or too long a time is given as it is. */
#define JP_AGAIN_WITHIN(timeout, call)                                         \
    ({                                                                         \
        JP_RETRY(retry_);                                                      \
        const struct timespec *left = timeout;                                 \
        struct timespec time_;                                                 \
        const int may_ = jp_retry_begin(&retry_);                              \
        const int64_t deadline_ = may_ ? jp_retry_deadline(left) : JP_NEVER;   \
        __typeof__(call) result_;                                              \
        while ((result_ = call) < 0 && errno == EINTR && may_ &&               \
               jp_retry_interrupted(&retry_)) {                                \
            time_ = jp_retry_left(deadline_);                                  \
            left = deadline_ == JP_NEVER ? left : &time_;                      \
        }                                                                      \
        result_;                                                               \
    })

/* Makes a call that takes a signal mask (ppoll and its like) once more, so
 * that no handler of the program's is missed between the question whether one
 * ran and the call: blocks all signals but those that do nothing, asks, and
 * calls `again`, which makes the call with the mask it is given.  Returns its
 * result, or -1 with EINTR when a handler of the program's has run.  The thread
 * may be cancelled in `again`. */
int jp_retry_masked(const struct jp_retry *retry,
                    int (*again)(void *subject, const sigset_t *mask),
                    void *subject);

/* Called before a handler of the program's that ends calls (without
 * SA_RESTART), with its context.  If jprof's handler came first, the kernel
 * would make the interrupted call again after both, and the thread would go on
 * waiting: has the call fail with EINTR instead. */
void jp_retry_force_eintr(ucontext_t *context);

/* The time now.  Moments are in ns of CLOCK_MONOTONIC. */
#define JP_NEVER INT64_MAX
int64_t jp_retry_now(void);

/* The moment that is `wait` from now; NULL, or too long a wait: JP_NEVER. */
int64_t jp_retry_deadline(const struct timespec *wait);

/* The time left until a moment; 0 when it has passed. */
struct timespec jp_retry_left(int64_t deadline);

#endif
