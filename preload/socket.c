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

JP_HOOK(int, accept, (int fd, struct sockaddr *address, socklen_t *length))
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

JP_HOOK(int, accept4,
        (int fd, struct sockaddr *address, socklen_t *length, int flags))
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

JP_HOOK(int, connect,
        (int fd, const struct sockaddr *address, socklen_t length))
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

/* Whether a receive wants all that it asks for.  Datagrams come one by one,
 * whatever the flags. */
static int wants_all(int fd, int flags)
{
    int type = 0;
    socklen_t size = sizeof(type);
    return (flags & (MSG_WAITALL | MSG_PEEK | MSG_DONTWAIT)) == MSG_WAITALL &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           type == SOCK_STREAM;
}

/* The rest of a receive that wanted all. */
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

JP_HOOK(ssize_t, recv, (int fd, void *data, size_t size, int flags))
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
    if (result > 0 && (size_t)result < size && wants_all(fd, flags))
        return receive_rest(&stream, data, size, (size_t)result, flags);
    return result;
}

JP_HOOK(ssize_t, recvfrom,
        (int fd, void *data, size_t size, int flags, struct sockaddr *from,
         socklen_t *length))
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
    if (result > 0 && (size_t)result < size && wants_all(fd, flags))
        return receive_rest(&stream, data, size, (size_t)result, flags);
    return result;
}

/* Receives more, with the control data where none has come yet: the kernel
 * ends a receive with the data that it came with (unix(7), SCM_RIGHTS). */
static ssize_t receive_more(struct jp_stream *stream, struct msghdr *message,
                            size_t room, struct msghdr *more, int flags)
{
    JP_REAL(recvmsg_function, recvmsg)
    ssize_t result;
    do {
        more->msg_control = message->msg_control;
        more->msg_controllen = room;
        result = real(stream->fd, more, flags);
    } while (result < 0 && jp_stream_go_on(stream));
    if (result > 0) {
        message->msg_controllen = more->msg_controllen;
        message->msg_flags |= more->msg_flags;
    }
    return result;
}

static int has_control(const struct msghdr *message)
{
    return message->msg_controllen != 0 ||
           (message->msg_flags & MSG_CTRUNC) != 0;
}

/* The rest of a message that was to come in whole: of the part in which it
 * stopped, and then those behind it.  room: for the control data. */
static ssize_t receive_parts(struct jp_stream *stream, struct msghdr *message,
                             size_t room, size_t done, int flags)
{
    struct iovec *parts = message->msg_iov;
    size_t count = message->msg_iovlen, skip = done;
    while (!has_control(message)) {
        for (; count > 0 && skip >= parts->iov_len; parts++, count--)
            skip -= parts->iov_len;
        if (count == 0 || !jp_stream_cut_short(stream))
            break;
        struct iovec rest = {(char *)parts->iov_base + skip,
                             parts->iov_len - skip};
        struct msghdr more = {.msg_iov = &rest, .msg_iovlen = 1};
        ssize_t result = receive_more(stream, message, room, &more, flags);
        if (result <= 0)
            break;
        done += (size_t)result;
        skip += (size_t)result;
        if (skip < parts->iov_len)
            continue;
        parts++;
        count--;
        if (count == 0 || has_control(message) ||
            !jp_stream_undisturbed(stream))
            break;
        more.msg_iov = parts;
        more.msg_iovlen = count;
        result = receive_more(stream, message, room, &more, flags);
        if (result <= 0)
            break;
        done += (size_t)result;
        skip = (size_t)result;
    }
    return (ssize_t)done;
}

JP_HOOK(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
    JP_REAL(recvmsg_function, recvmsg)
    struct jp_stream stream;
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, message, flags);
    const size_t room =
        (flags & MSG_WAITALL) != 0 ? message->msg_controllen : 0;
    ssize_t result;
    do
        result = real(fd, message, flags);
    while (result < 0 && jp_stream_go_on(&stream));
    if (result > 0 && wants_all(fd, flags))
        return receive_parts(&stream, message, room, (size_t)result, flags);
    return result;
}

/* What glibc's headers turn these two into under _FORTIFY_SOURCE. */
JP_HOOK(ssize_t, __recv_chk,
        (int fd, void *data, size_t size, size_t room, int flags))
{
    JP_REAL(recv_check_function, __recv_chk)
    return size > room ? real(fd, data, size, room, flags)
                       : recv(fd, data, size, flags);
}

JP_HOOK(ssize_t, __recvfrom_chk,
        (int fd, void *data, size_t size, size_t room, int flags,
         struct sockaddr *from, socklen_t *length))
{
    JP_REAL(recvfrom_check_function, __recvfrom_chk)
    return size > room ? real(fd, data, size, room, flags, from, length)
                       : recvfrom(fd, data, size, flags, from, length);
}

JP_HOOK(ssize_t, sendto,
        (int fd, const void *data, size_t size, int flags,
         const struct sockaddr *to, socklen_t length))
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

JP_HOOK(ssize_t, send, (int fd, const void *data, size_t size, int flags))
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

JP_HOOK(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
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
