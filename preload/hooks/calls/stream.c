/* SPDX-License-Identifier: MIT
 *
 * Calls that read or write a descriptor and wait for it.
 * Runs in: any thread, the program's handlers. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "await.h"
#include "hooks/base/local.h"
#include "hooks/base/real.h"
#include "sig/os/sys.h"
#include "sig/state/process.h"

int jp_stream_begin(struct jp_stream *stream, int fd, enum jp_stream_way way)
{
    if (!jp_retry_begin_as(&stream->retry, __builtin_return_address(0)))
        return 0;
    /* The coarse clock is cheap to read, and up to a tick late. */
    stream->begin = (int64_t)(jp_sys_clock_sig(CLOCK_MONOTONIC_COARSE) +
                              jp_process.tick_ns);
    stream->fd = fd;
    stream->way = way;
    return 1;
}

/* Whether calls on a descriptor wait until all bytes are moved: a pipe, a
 * socket or a terminal without O_NONBLOCK (write(2), pipe(7), recv(2) of
 * MSG_WAITALL). */
static int waits_for_all(int fd)
{
    struct stat status;
    const long flags = jp_sys_sig(SYS_fcntl, fd, F_GETFL, 0, 0, 0);
    return flags >= 0 && (flags & O_NONBLOCK) == 0 &&
           jp_sys_fstat_sig(fd, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) ||
            S_ISCHR(status.st_mode));
}

/* The moment at which the socket's time-out ends; JP_NEVER when it has none,
 * or fd is no socket. */
static int64_t deadline(const struct jp_stream *stream)
{
    struct timeval time = {0, 0};
    socklen_t size = sizeof(time);
    if (getsockopt(stream->fd, SOL_SOCKET,
                   stream->way == JP_STREAM_IN ? SO_RCVTIMEO : SO_SNDTIMEO,
                   &time, &size) != 0 ||
        (time.tv_sec == 0 && time.tv_usec == 0))
        return JP_NEVER;
    return stream->begin + time.tv_sec * (int64_t)JP_NS + time.tv_usec * 1000;
}

/* Whether the socket's time-out, if it has one, is over. */
static int is_over(const struct jp_stream *stream)
{
    return deadline(stream) <= jp_retry_now();
}

/* Whether a receive that wants all bytes could have gone on waiting: the socket
 * is open and empty. */
static int is_empty(const struct jp_stream *stream)
{
    char byte;
    return jp_sys_sig(SYS_recvfrom, stream->fd, (long)&byte, 1,
                      MSG_PEEK | MSG_DONTWAIT, 0) == -EAGAIN;
}

/* Whether the other end of a pipe, socket or terminal is closed, so that a
 * write to it ended with what it had moved. */
static int is_hung_up(const struct jp_stream *stream)
{
    struct pollfd one = {.fd = stream->fd, .events = POLLOUT};
    struct timespec none = {0, 0};
    return jp_sys_sig(SYS_ppoll, (long)&one, 1, (long)&none, 0, 0) > 0 &&
           (one.revents & (POLLERR | POLLHUP)) != 0;
}

/* Called after a call that moved fewer bytes than it was asked to: whether only
 * jprof's signal was the cause. */
static int was_cut_short(struct jp_stream *stream)
{
    if (jp_retry_take_ours(&stream->retry))
        return !is_over(stream);
    return waits_for_all(stream->fd) &&
           (stream->way == JP_STREAM_IN ? is_empty(stream)
                                        : !is_hung_up(stream)) &&
           !is_over(stream) && jp_retry_interrupted(&stream->retry);
}

/* Waits until the descriptor is ready.  Returns 0 or an errno. */
static int wait_ready(struct jp_stream *stream, int64_t until)
{
    struct pollfd one = {.fd = stream->fd,
                         .events =
                             stream->way == JP_STREAM_IN ? POLLIN : POLLOUT};
    const int result = jp_await(&stream->retry, &one, 1, until);
    return result > 0 ? 0 : result == 0 ? EAGAIN : -result;
}

int jp_stream_go_on(struct jp_stream *stream)
{
    int error = errno;
    if (error != EINTR || !jp_retry_interrupted(&stream->retry))
        return 0;
    const int64_t until = deadline(stream);
    error = until == JP_NEVER ? 0 : wait_ready(stream, until);
    errno = error != 0 ? error : EINTR;
    return error == 0;
}

int jp_stream_ask_again(struct jp_stream *stream)
{
    if (errno != EINTR || !jp_retry_interrupted(&stream->retry))
        return 0;
    if (deadline(stream) > jp_retry_now())
        return 1;
    errno = EAGAIN;
    return 0;
}

static size_t size_of(const struct iovec *parts, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].iov_len;
    return size;
}

ssize_t jp_stream_rest(struct jp_stream *stream, struct jp_parts rest,
                       size_t done)
{
    size_t skip = done; /* of the first part that is left */
    int cut = 1;
    for (;;) {
        for (; rest.count > 0 && skip >= rest.parts->iov_len; rest.count--)
            skip -= rest.parts++->iov_len;
        if (rest.count == 0 || !(cut ? was_cut_short(stream)
                                     : jp_retry_undisturbed(&stream->retry)))
            return (ssize_t)done;
        struct iovec part = *rest.parts;
        part.iov_base = (char *)part.iov_base + skip;
        part.iov_len -= skip;
        const struct iovec *next = skip != 0 ? &part : rest.parts;
        const size_t count = skip != 0                ? 1
                             : rest.count < rest.most ? rest.count
                                                      : rest.most;
        const ssize_t more =
            JP_STREAM_AGAIN(stream, rest.move(stream, next, count, rest.data));
        if (more <= 0)
            return (ssize_t)done;
        cut = (size_t)more < size_of(next, count);
        done += (size_t)more;
        skip += (size_t)more;
    }
}
