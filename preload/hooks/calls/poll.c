/* SPDX-License-Identifier: MIT
 *
 * Hooks of poll, select, epoll_wait and their kin.  The kernel never restarts
 * them after a signal; if that was only jprof's, they are made again with the
 * time that is left.  The program's signals are blocked before that, and the
 * call gets the program's mask as its own, so that no signal slips in between
 * (jp_retry_masked).
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "hooks/base/retry.h"
#include "sig/os/sys.h"

/* One wait and how it is made again. */
struct wait {
    struct jp_retry retry;
    int64_t deadline;
    const sigset_t *mask; /* the program's for the call, or NULL */
    sigset_t kernel;
    int (*again)(struct wait *wait, const struct timespec *left,
                 const sigset_t *mask);
    void *subject; /* descriptors or events */
    uint64_t count;
    int fd;
    fd_set **sets;
};

static void end_wait(struct wait *wait)
{
    jp_retry_end(&wait->retry);
}

#define JP_WAIT(name) struct wait name __attribute__((cleanup(end_wait)))

static int64_t after_ms(int timeout)
{
    return timeout < 0 ? JP_NEVER : jp_retry_now() + (int64_t)timeout * 1000000;
}

static int to_ms(const struct timespec *left)
{
    return left == NULL ? -1
                        : (int)(left->tv_sec * 1000 +
                                (left->tv_nsec + 999999) / 1000000);
}

/* Remembers the program's mask for the call.  Returns the mask to give to the
 * kernel, or NULL. */
static const sigset_t *use_mask(struct wait *wait, const sigset_t *mask)
{
    if (mask == NULL)
        return NULL;
    wait->mask = mask;
    wait->kernel = jp_local_without_clock(mask);
    return &wait->kernel;
}

static int wait_again(void *subject, const sigset_t *mask)
{
    struct wait *wait = subject;
    const struct timespec left = jp_retry_left(wait->deadline);
    return wait->again(wait, wait->deadline == JP_NEVER ? NULL : &left,
                       wait->mask != NULL ? use_mask(wait, wait->mask) : mask);
}

/* Makes the call again as long as only jprof's signals end it.  Returns its
 * result. */
static int finish(struct wait *wait, int result)
{
    while (result < 0 && errno == EINTR && jp_retry_interrupted(&wait->retry))
        result = jp_retry_masked(&wait->retry, wait_again, wait);
    return result;
}

static int poll_again(struct wait *wait, const struct timespec *left,
                      const sigset_t *mask)
{
    JP_REAL_DECLARED(ppoll)
    return real(wait->subject, wait->count, left, mask);
}

JP_HOOK(int, poll, (struct pollfd * fds, nfds_t count, int timeout))
{
    JP_REAL(poll)
    JP_WAIT(wait) = {.again = poll_again, .subject = fds, .count = count};
    if (timeout == 0 || !jp_retry_begin(&wait.retry))
        return real(fds, count, timeout);
    wait.deadline = after_ms(timeout);
    return finish(&wait, real(fds, count, timeout));
}

JP_HOOK(int, ppoll,
        (struct pollfd * fds, nfds_t count, const struct timespec *timeout,
         const sigset_t *mask))
{
    JP_REAL(ppoll)
    JP_WAIT(wait) = {.again = poll_again, .subject = fds, .count = count};
    if (!jp_retry_begin(&wait.retry))
        return real(fds, count, timeout, mask);
    wait.deadline = jp_retry_deadline(timeout);
    return finish(&wait, real(fds, count, timeout, use_mask(&wait, mask)));
}

/* What glibc's headers turn poll and ppoll into under _FORTIFY_SOURCE.  When
 * the check fails, glibc's function is called, which ends the program. */
JP_HOOK(int, __poll_chk,
        (struct pollfd * fds, nfds_t count, int timeout, size_t size))
{
    JP_REAL(__poll_chk)
    if (size / sizeof(*fds) < count)
        return real(fds, count, timeout, size);
    return poll(fds, count, timeout);
}

JP_HOOK(int, __ppoll_chk,
        (struct pollfd * fds, nfds_t count, const struct timespec *timeout,
         const sigset_t *mask, size_t size))
{
    JP_REAL(__ppoll_chk)
    if (size / sizeof(*fds) < count)
        return real(fds, count, timeout, mask, size);
    return ppoll(fds, count, timeout, mask);
}

static int select_again(struct wait *wait, const struct timespec *left,
                        const sigset_t *mask)
{
    JP_REAL_DECLARED(pselect)
    return real((int)wait->count, wait->sets[0], wait->sets[1], wait->sets[2],
                left, mask);
}

/* When a signal ends the call, the kernel leaves the sets as they are and
 * writes the time left, which is out of date after a retry and written again
 * here. */
JP_HOOK(int, select,
        (int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
         struct timeval *timeout))
{
    JP_REAL(select)
    fd_set *sets[] = {readable, writable, exceptional};
    JP_WAIT(wait) = {.again = select_again,
                     .count = (unsigned)count,
                     .sets = sets,
                     .deadline = JP_NEVER};
    if (!jp_retry_begin(&wait.retry))
        return real(count, readable, writable, exceptional, timeout);
    if (timeout != NULL) {
        const struct timespec time = {timeout->tv_sec, timeout->tv_usec * 1000};
        wait.deadline = jp_retry_deadline(&time);
    }
    int result = real(count, readable, writable, exceptional, timeout);
    if (result >= 0 || errno != EINTR)
        return result;
    result = finish(&wait, result);
    if (timeout != NULL) {
        const struct timespec left = jp_retry_left(wait.deadline);
        timeout->tv_sec = left.tv_sec;
        timeout->tv_usec = left.tv_nsec / 1000;
    }
    return result;
}

JP_HOOK(int, pselect,
        (int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
         const struct timespec *timeout, const sigset_t *mask))
{
    JP_REAL(pselect)
    fd_set *sets[] = {readable, writable, exceptional};
    JP_WAIT(wait) = {
        .again = select_again, .count = (unsigned)count, .sets = sets};
    if (!jp_retry_begin(&wait.retry))
        return real(count, readable, writable, exceptional, timeout, mask);
    wait.deadline = jp_retry_deadline(timeout);
    return finish(&wait, real(count, readable, writable, exceptional, timeout,
                              use_mask(&wait, mask)));
}

static int epoll_again(struct wait *wait, const struct timespec *left,
                       const sigset_t *mask)
{
    JP_REAL_DECLARED(epoll_pwait)
    return real(wait->fd, wait->subject, (int)wait->count, to_ms(left), mask);
}

JP_HOOK(int, epoll_wait,
        (int fd, struct epoll_event *events, int count, int timeout))
{
    JP_REAL(epoll_wait)
    JP_WAIT(wait) = {.again = epoll_again,
                     .fd = fd,
                     .subject = events,
                     .count = (unsigned)count};
    if (timeout == 0 || !jp_retry_begin(&wait.retry))
        return real(fd, events, count, timeout);
    wait.deadline = after_ms(timeout);
    return finish(&wait, real(fd, events, count, timeout));
}

JP_HOOK(int, epoll_pwait,
        (int fd, struct epoll_event *events, int count, int timeout,
         const sigset_t *mask))
{
    JP_REAL(epoll_pwait)
    JP_WAIT(wait) = {.again = epoll_again,
                     .fd = fd,
                     .subject = events,
                     .count = (unsigned)count};
    if (!jp_retry_begin(&wait.retry))
        return real(fd, events, count, timeout, mask);
    wait.deadline = after_ms(timeout);
    return finish(&wait,
                  real(fd, events, count, timeout, use_mask(&wait, mask)));
}

static int epoll2_again(struct wait *wait, const struct timespec *left,
                        const sigset_t *mask)
{
    JP_REAL_DECLARED(epoll_pwait2)
    return real(wait->fd, wait->subject, (int)wait->count, left, mask);
}

JP_HOOK(int, epoll_pwait2,
        (int fd, struct epoll_event *events, int count,
         const struct timespec *timeout, const sigset_t *mask))
{
    JP_REAL(epoll_pwait2)
    JP_WAIT(wait) = {.again = epoll2_again,
                     .fd = fd,
                     .subject = events,
                     .count = (unsigned)count};
    if (!jp_retry_begin(&wait.retry))
        return real(fd, events, count, timeout, mask);
    wait.deadline = jp_retry_deadline(timeout);
    return finish(&wait,
                  real(fd, events, count, timeout, use_mask(&wait, mask)));
}
