/* SPDX-License-Identifier: MIT
 *
 * Sockets.  After a signal the kernel goes on with a call by itself, unless
 * the socket has a time-out (SO_RCVTIMEO, SO_SNDTIMEO; signal(7)): then the
 * hook waits for the rest of it, and makes the call again without waiting.
 * What was sent or received in part is continued.
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "real.h"
#include "stream.h"

typedef int accept_function(int, struct sockaddr *, socklen_t *);
typedef int accept4_function(int, struct sockaddr *, socklen_t *, int);
typedef int connect_function(int, const struct sockaddr *, socklen_t);
typedef ssize_t recv_function(int, void *, size_t, int);
typedef ssize_t recvfrom_function(int, void *, size_t, int, struct sockaddr *,
                                  socklen_t *);
typedef ssize_t recvmsg_function(int, struct msghdr *, int);
typedef ssize_t send_function(int, const void *, size_t, int);
typedef ssize_t sendto_function(int, const void *, size_t, int,
                                const struct sockaddr *, socklen_t);
typedef ssize_t sendmsg_function(int, const struct msghdr *, int);
typedef ssize_t recv_check_function(int, void *, size_t, size_t, int);
typedef ssize_t recvfrom_check_function(int, void *, size_t, size_t, int,
                                        struct sockaddr *, socklen_t *);

/* What glibc's headers turn recv and recvfrom into under _FORTIFY_SOURCE. */
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *,
                       socklen_t *);

JP_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    JP_REAL(accept_function, accept)
    struct jp_stream stream;
    if (!jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, address, length);
    int result;
    do
        result = real(fd, address, length);
    while (result < 0 && jp_stream_go_on(&stream));
    return result;
}

JP_EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *length,
                      int flags)
{
    JP_REAL(accept4_function, accept4)
    struct jp_stream stream;
    if (!jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, address, length, flags);
    int result;
    do
        result = real(fd, address, length, flags);
    while (result < 0 && jp_stream_go_on(&stream));
    return result;
}

/* Whether a connection that is being made goes on by itself: a Unix socket
 * waits for its turn instead, and has to ask again. */
static int is_on_its_way(int fd)
{
    int domain = 0;
    socklen_t size = sizeof(domain);
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
           domain != AF_UNIX;
}

static int outcome(int fd)
{
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        return -1;
    errno = error;
    return error == 0 ? 0 : -1;
}

JP_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    JP_REAL(connect_function, connect)
    struct jp_stream stream;
    if (!jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, address, length);
    int result = real(fd, address, length);
    if (result == 0 || errno != EINTR)
        return result;
    if (is_on_its_way(fd)) {
        if (jp_stream_go_on(&stream))
            return outcome(fd);
        if (errno == EAGAIN)
            errno = EINPROGRESS; /* connect(2), of SO_SNDTIMEO */
        return -1;
    }
    while (result < 0 && jp_stream_ask_again(&stream))
        result = real(fd, address, length);
    return result;
}

/* The rest of a receive that wanted all (MSG_WAITALL). */
static ssize_t receive_rest(struct jp_stream *stream, char *data, size_t size,
                            size_t done, int flags)
{
    JP_REAL(recv_function, recv)
    while (done < size && jp_stream_cut_short(stream)) {
        ssize_t more = real(stream->fd, data + done, size - done, flags);
        if (more < 0 && jp_stream_go_on(stream))
            continue;
        if (more <= 0)
            break;
        done += (size_t)more;
    }
    return (ssize_t)done;
}

static int wants_all(int flags)
{
    return (flags & (MSG_WAITALL | MSG_PEEK | MSG_DONTWAIT)) == MSG_WAITALL;
}

JP_EXPORT ssize_t recv(int fd, void *data, size_t size, int flags)
{
    JP_REAL(recv_function, recv)
    struct jp_stream stream;
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, data, size, flags);
    ssize_t result;
    do
        result = real(fd, data, size, flags);
    while (result < 0 && jp_stream_go_on(&stream));
    if (result > 0 && wants_all(flags))
        return receive_rest(&stream, data, size, (size_t)result, flags);
    return result;
}

JP_EXPORT ssize_t recvfrom(int fd, void *data, size_t size, int flags,
                           struct sockaddr *from, socklen_t *length)
{
    JP_REAL(recvfrom_function, recvfrom)
    struct jp_stream stream;
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, data, size, flags, from, length);
    ssize_t result;
    do
        result = real(fd, data, size, flags, from, length);
    while (result < 0 && jp_stream_go_on(&stream));
    if (result > 0 && wants_all(flags))
        return receive_rest(&stream, data, size, (size_t)result, flags);
    return result;
}

JP_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    JP_REAL(recvmsg_function, recvmsg)
    struct jp_stream stream;
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, message, flags);
    ssize_t result;
    do
        result = real(fd, message, flags);
    while (result < 0 && jp_stream_go_on(&stream));
    return result;
}

JP_EXPORT ssize_t __recv_chk(int fd, void *data, size_t size, size_t room,
                             int flags)
{
    JP_REAL(recv_check_function, __recv_chk)
    return size > room ? real(fd, data, size, room, flags)
                       : recv(fd, data, size, flags);
}

JP_EXPORT ssize_t __recvfrom_chk(int fd, void *data, size_t size, size_t room,
                                 int flags, struct sockaddr *from,
                                 socklen_t *length)
{
    JP_REAL(recvfrom_check_function, __recvfrom_chk)
    return size > room ? real(fd, data, size, room, flags, from, length)
                       : recvfrom(fd, data, size, flags, from, length);
}

JP_EXPORT ssize_t sendto(int fd, const void *data, size_t size, int flags,
                         const struct sockaddr *to, socklen_t length)
{
    JP_REAL(sendto_function, sendto)
    struct jp_stream stream;
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, data, size, flags, to, length);
    size_t done = 0;
    for (;;) {
        ssize_t more = real(fd, (const char *)data + done, size - done, flags,
                            to, length);
        if (more < 0 && jp_stream_go_on(&stream))
            continue;
        if (more < 0)
            return done > 0 ? (ssize_t)done : -1;
        done += (size_t)more;
        if (done >= size || !jp_stream_cut_short(&stream))
            return (ssize_t)done;
    }
}

JP_EXPORT ssize_t send(int fd, const void *data, size_t size, int flags)
{
    JP_REAL(send_function, send)
    struct jp_stream stream;
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, data, size, flags);
    size_t done = 0;
    for (;;) {
        ssize_t more = real(fd, (const char *)data + done, size - done,
                            flags);
        if (more < 0 && jp_stream_go_on(&stream))
            continue;
        if (more < 0)
            return done > 0 ? (ssize_t)done : -1;
        done += (size_t)more;
        if (done >= size || !jp_stream_cut_short(&stream))
            return (ssize_t)done;
    }
}

/* The rest of a message, part by part; the kernel has its control data. */
static ssize_t send_rest(struct jp_stream *stream,
                         const struct msghdr *message, size_t done, int flags)
{
    JP_REAL(send_function, send)
    size_t skip = done;
    for (size_t i = 0; i < message->msg_iovlen; i++) {
        const struct iovec *part = &message->msg_iov[i];
        while (skip < part->iov_len) {
            ssize_t more = real(stream->fd, (char *)part->iov_base + skip,
                                part->iov_len - skip, flags);
            if (more < 0 && jp_stream_go_on(stream))
                continue;
            if (more < 0)
                return (ssize_t)done;
            done += (size_t)more;
            skip += (size_t)more;
            if (skip < part->iov_len && !jp_stream_cut_short(stream))
                return (ssize_t)done;
        }
        skip -= part->iov_len;
    }
    return (ssize_t)done;
}

JP_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    JP_REAL(sendmsg_function, sendmsg)
    struct jp_stream stream;
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, message, flags);
    ssize_t result;
    do
        result = real(fd, message, flags);
    while (result < 0 && jp_stream_go_on(&stream));
    if (result <= 0 || !jp_stream_cut_short(&stream))
        return result;
    return send_rest(&stream, message, (size_t)result, flags);
}
