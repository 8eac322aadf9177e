/* SPDX-License-Identifier: MIT
 *
 * Hooks of nanosleep and its kin, which end when their time has come or a
 * handler of the program's has run, and not for jprof's signals.
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "await.h"
#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/base/retry.h"
#include "sig/os/sys.h"

/* Sleeps on to a moment of CLOCK_MONOTONIC, after jprof cut the sleep short.
 * Returns 0, or EINTR when a handler of the program's ran. */
static int sleep_on(struct jp_retry *retry, int64_t deadline)
{
    return -jp_await(retry, NULL, 0, deadline);
}

static int is_valid(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 &&
           time->tv_nsec < (long)JP_NS;
}

/* clock_nanosleep for some time.  Returns 0 or an errno. */
static int relative(__typeof__(clock_nanosleep) *real, clockid_t clock,
                    const struct timespec *time, struct timespec *left)
{
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(clock, 0, time, left);
    /* `left` may be the same object as `time`.  These functions do not set
     * errno. */
    const int before = errno;
    const int64_t deadline = is_valid(time) ? jp_retry_deadline(time) : 0;
    int error = real(clock, 0, time, left);
    if (error != EINTR || !jp_retry_interrupted(&retry))
        return error;
    error = sleep_on(&retry, deadline);
    errno = before;
    if (error == EINTR && left != NULL)
        *left = jp_retry_left(deadline);
    return error;
}

/* clock_nanosleep until a time of any clock, made again as it was. */
static int absolute(__typeof__(clock_nanosleep) *real, clockid_t clock,
                    const struct timespec *time, struct timespec *left)
{
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(clock, TIMER_ABSTIME, time, left);
    int error;
    do
        error = real(clock, TIMER_ABSTIME, time, left);
    while (error == EINTR && jp_retry_interrupted(&retry));
    return error;
}

#if JP_ARCH_OLDER
JP_ALSO(clock_nanosleep, JP_ARCH_GLIBC);
#endif
JP_HOOK(int, clock_nanosleep,
        (clockid_t clock, int flags, const struct timespec *time,
         struct timespec *left))
{
    JP_REAL(clock_nanosleep)
    if ((flags & TIMER_ABSTIME) != 0)
        return absolute(real, clock, time, left);
    if (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC)
        return relative(real, clock, time, left);
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(clock, flags, time, left);
    struct timespec rest, todo = *time;
    int error = real(clock, flags, &todo, &rest);
    while (error == EINTR && jp_retry_interrupted(&retry)) {
        todo = rest;
        error = real(clock, flags, &todo, &rest);
    }
    if (error == EINTR && left != NULL)
        *left = rest;
    return error;
}

JP_HOOK(int, nanosleep, (const struct timespec *time, struct timespec *left))
{
    JP_REAL(nanosleep)
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(time, left);
    const int64_t deadline = is_valid(time) ? jp_retry_deadline(time) : 0;
    const int result = real(time, left);
    if (result == 0 || errno != EINTR || !jp_retry_interrupted(&retry))
        return result;
    const int error = sleep_on(&retry, deadline);
    if (error == EINTR && left != NULL)
        *left = jp_retry_left(deadline);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

JP_HOOK(int, usleep, (useconds_t time))
{
    JP_REAL(usleep)
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(time);
    const struct timespec wait = {time / 1000000, time % 1000000 * 1000};
    return nanosleep(&wait, NULL);
}

/* sleep(3) returns the whole seconds that are left; errno is kept. */
JP_HOOK(unsigned, sleep, (unsigned seconds))
{
    JP_REAL(sleep)
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(seconds);
    const int error = errno;
    struct timespec wait = {seconds, 0};
    if (nanosleep(&wait, &wait) != 0)
        return (unsigned)wait.tv_sec;
    errno = error;
    return 0;
}

/* thrd_sleep(3) returns -1 for a signal, another negative number for an
 * error. */
JP_HOOK(int, thrd_sleep, (const struct timespec *time, struct timespec *left))
{
    JP_REAL(thrd_sleep)
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(time, left);
    const int error = clock_nanosleep(CLOCK_REALTIME, 0, time, left);
    return error == 0 ? 0 : error == EINTR ? -1 : -2;
}
