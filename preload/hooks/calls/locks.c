/* SPDX-License-Identifier: MIT
 *
 * Hooks of the C library's locks, conditions and joins, for the clock: a signal
 * that finds the thread waiting there stops the thread's timer, and the hook
 * sets it again.  jprof's signals end none of these calls early.
 * Runs in: any thread, the program's handlers. */
#include <pthread.h>
#include <stddef.h>
#include <threads.h>
#include <time.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/base/retry.h"
#include "sig/clock/clock_hrtimer.h"

/* --- calls that wait nearly always: the hook may stop the timer before --- */

#define WAITS(result, name, declared, used)                                    \
    JP_HOOK(result, name, declared)                                            \
    {                                                                          \
        JP_REAL(name)                                                          \
        JP_RETRY(retry);                                                       \
        jp_retry_begin(&retry);                                                \
        return real used;                                                      \
    }

WAITS(int, pthread_cond_wait,
      (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex))
WAITS(int, pthread_cond_timedwait,
      (pthread_cond_t * condition, pthread_mutex_t *mutex,
       const struct timespec *until),
      (condition, mutex, until))
WAITS(int, pthread_cond_clockwait,
      (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock,
       const struct timespec *until),
      (condition, mutex, clock, until))
WAITS(int, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
WAITS(int, cnd_timedwait,
      (cnd_t * condition, mtx_t *mutex, const struct timespec *until),
      (condition, mutex, until))
WAITS(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))

/* --- calls that seldom wait: nothing is done before them --- */

/* Sets the timer of a thread that waited in the call. */
static void resume(void)
{
    struct jp_thread *thread = jp_local.thread;
    if (thread != NULL && thread->clock.hrtimer.stopped &&
        thread->generation == jp_local.generation)
        jp_hrtimer_resume_sig(thread);
}

#define MAY_WAIT(result, name, declared, used)                                 \
    JP_HOOK(result, name, declared)                                            \
    {                                                                          \
        JP_REAL(name)                                                          \
        const result got = real used;                                          \
        resume();                                                              \
        return got;                                                            \
    }

MAY_WAIT(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
MAY_WAIT(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
MAY_WAIT(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
MAY_WAIT(int, mtx_lock, (mtx_t * mutex), (mutex))
MAY_WAIT(int, pthread_join, (pthread_t thread, void **value), (thread, value))
MAY_WAIT(int, thrd_join, (thrd_t thread, int *value), (thread, value))
