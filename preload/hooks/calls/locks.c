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
#if JP_ARCH_OLDER
/* Before glibc 2.3.2 a pthread_cond_t held a pointer to the condition (glibc,
 * nptl/old_pthread_cond_wait.c). */
#define WAITS_OLD(id, name, declared, used)                                    \
    JP_HOOK_OLD(int, id, name, JP_ARCH_GLIBC, declared, NULL)                  \
    {                                                                          \
        JP_REAL(id)                                                            \
        JP_RETRY(retry);                                                       \
        jp_retry_begin(&retry);                                                \
        return real used;                                                      \
    }
WAITS_OLD(pthread_cond_wait_old, pthread_cond_wait,
          (void *condition, pthread_mutex_t *mutex), (condition, mutex))
WAITS_OLD(pthread_cond_timedwait_old, pthread_cond_timedwait,
          (void *condition, pthread_mutex_t *mutex,
           const struct timespec *until),
          (condition, mutex, until))
#endif
JP_ALSO(pthread_cond_clockwait, "GLIBC_2.30");
WAITS(int, pthread_cond_clockwait,
      (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock,
       const struct timespec *until),
      (condition, mutex, clock, until))
JP_ALSO(cnd_wait, "GLIBC_2.28");
WAITS(int, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
JP_ALSO(cnd_timedwait, "GLIBC_2.28");
WAITS(int, cnd_timedwait,
      (cnd_t * condition, mtx_t *mutex, const struct timespec *until),
      (condition, mutex, until))
JP_ALSO(pthread_barrier_wait, JP_ARCH_GLIBC);
WAITS(int, pthread_barrier_wait, (pthread_barrier_t * barrier), (barrier))

/* --- calls that seldom wait: nothing is done before them --- */

/* Sets the timer of a thread that waited in the call. */
static void resume(void)
{
    struct jp_thread *thread = jp_local_known_thread();
    if (thread != NULL && thread->clock.hrtimer.stopped)
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
JP_ALSO(pthread_rwlock_rdlock, JP_ARCH_GLIBC);
MAY_WAIT(int, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
JP_ALSO(pthread_rwlock_wrlock, JP_ARCH_GLIBC);
MAY_WAIT(int, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
JP_ALSO(mtx_lock, "GLIBC_2.28");
MAY_WAIT(int, mtx_lock, (mtx_t * mutex), (mutex))
JP_ALSO(pthread_join, JP_ARCH_GLIBC);
MAY_WAIT(int, pthread_join, (pthread_t thread, void **value), (thread, value))
JP_ALSO(thrd_join, "GLIBC_2.28");
MAY_WAIT(int, thrd_join, (thrd_t thread, int *value), (thread, value))
