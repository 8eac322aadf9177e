/* SPDX-License-Identifier: MIT
 *
 * Hooks of socket calls.  After a signal the kernel makes the call again by
 * itself, unless the socket has a time-out (SO_RCVTIMEO, SO_SNDTIMEO;
 * signal(7)): the hook then waits for what is left of that time until the
 * socket is ready, and makes the call again.  A call that moved a part of the
 * bytes is continued.
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "hooks/base/real.h"
#include "stream.h"

JP_HOOK(int, accept, (int fd, struct sockaddr *address, socklen_t *length))
{
    JP_REAL(accept)
    JP_STREAM(stream);
    if (!jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, address, length);
    return JP_STREAM_AGAIN(&stream, real(fd, address, length));
}

JP_HOOK(int, accept4,
        (int fd, struct sockaddr *address, socklen_t *length, int flags))
{
    JP_REAL(accept4)
    JP_STREAM(stream);
    if (!jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, address, length, flags);
    return JP_STREAM_AGAIN(&stream, real(fd, address, length, flags));
}

/* Whether a connection is made without further calls.  A Unix socket instead
 * waits for its turn, and must call connect again. */
static int is_on_its_way(int fd)
{
    int domain = 0;
    socklen_t size = sizeof(domain);
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
           domain != AF_UNIX;
}

/* The result of a connection that was made in the background; sets errno. */
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
    JP_REAL(connect)
    JP_STREAM(stream);
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

/* Whether a receive waits for all bytes that it asks for: of a stream only, as
 * datagrams come one by one. */
static int wants_all(int fd, int flags)
{
    int type = 0;
    socklen_t size = sizeof(type);
    return (flags & (MSG_WAITALL | MSG_PEEK | MSG_DONTWAIT)) == MSG_WAITALL &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           type == SOCK_STREAM;
}

/* What the calls for the remaining bytes share with the first call. */
struct rest {
    int flags;
    const struct sockaddr *to;
    socklen_t length;
    struct msghdr *message;
    size_t room; /* for the message's control data */
};

static ssize_t receive_more(struct jp_stream *stream, const struct iovec *parts,
                            size_t count, void *data)
{
    JP_REAL_DECLARED(recv)
    const struct rest *rest = data;
    (void)count;
    return real(stream->fd, parts->iov_base, parts->iov_len, rest->flags);
}

/* Completes a receive that has returned `done`, if it wants all bytes.  Returns
 * the bytes received in all. */
static ssize_t receive_all(struct jp_stream *stream, void *data, size_t size,
                           int flags, ssize_t done)
{
    struct rest rest = {.flags = flags};
    const struct iovec part = {data, size};
    const struct jp_parts parts = {&part, 1, 1, receive_more, &rest};
    return done > 0 && (size_t)done < size && wants_all(stream->fd, flags)
               ? jp_stream_rest(stream, parts, (size_t)done)
               : done;
}

JP_HOOK(ssize_t, recv, (int fd, void *data, size_t size, int flags))
{
    JP_REAL(recv)
    JP_STREAM(stream);
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, data, size, flags);
    return receive_all(&stream, data, size, flags,
                       JP_STREAM_AGAIN(&stream, real(fd, data, size, flags)));
}

JP_HOOK(ssize_t, recvfrom,
        (int fd, void *data, size_t size, int flags, struct sockaddr *from,
         socklen_t *length))
{
    JP_REAL(recvfrom)
    JP_STREAM(stream);
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, data, size, flags, from, length);
    return receive_all(
        &stream, data, size, flags,
        JP_STREAM_AGAIN(&stream, real(fd, data, size, flags, from, length)));
}

static int has_control(const struct msghdr *message)
{
    return message->msg_controllen != 0 ||
           (message->msg_flags & MSG_CTRUNC) != 0;
}

/* Receives more, unless control data has come: the kernel ends a receive with
 * the bytes that control data came with (unix(7), SCM_RIGHTS). */
static ssize_t receive_parts(struct jp_stream *stream,
                             const struct iovec *parts, size_t count,
                             void *data)
{
    JP_REAL_DECLARED(recvmsg)
    const struct rest *rest = data;
    struct msghdr *message = rest->message;
    if (has_control(message))
        return 0;
    struct msghdr more = {.msg_iov = (struct iovec *)parts,
                          .msg_iovlen = count,
                          .msg_control = message->msg_control,
                          .msg_controllen = rest->room};
    const ssize_t result = real(stream->fd, &more, rest->flags);
    if (result > 0) {
        message->msg_controllen = more.msg_controllen;
        message->msg_flags |= more.msg_flags;
    }
    return result;
}

JP_HOOK(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags))
{
    JP_REAL(recvmsg)
    JP_STREAM(stream);
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, message, flags);
    struct rest rest = {
        .flags = flags,
        .message = message,
        .room = (flags & MSG_WAITALL) != 0 ? message->msg_controllen : 0};
    const ssize_t done = JP_STREAM_AGAIN(&stream, real(fd, message, flags));
    const struct jp_parts parts = {message->msg_iov, message->msg_iovlen,
                                   IOV_MAX, receive_parts, &rest};
    return done > 0 && wants_all(fd, flags) && !has_control(message)
               ? jp_stream_rest(&stream, parts, (size_t)done)
               : done;
}

/* What glibc's headers turn these two into under _FORTIFY_SOURCE. */
JP_HOOK(ssize_t, __recv_chk,
        (int fd, void *data, size_t size, size_t room, int flags))
{
    JP_REAL(__recv_chk)
    return size > room ? real(fd, data, size, room, flags)
                       : recv(fd, data, size, flags);
}

JP_HOOK(ssize_t, __recvfrom_chk,
        (int fd, void *data, size_t size, size_t room, int flags,
         struct sockaddr *from, socklen_t *length))
{
    JP_REAL(__recvfrom_chk)
    return size > room ? real(fd, data, size, room, flags, from, length)
                       : recvfrom(fd, data, size, flags, from, length);
}

static ssize_t send_more(struct jp_stream *stream, const struct iovec *parts,
                         size_t count, void *data)
{
    JP_REAL_DECLARED(sendto)
    const struct rest *rest = data;
    (void)count;
    return real(stream->fd, parts->iov_base, parts->iov_len, rest->flags,
                rest->to, rest->length);
}

/* Sends the remaining bytes of a call that has sent `done`.  Returns the bytes
 * sent in all. */
static ssize_t send_all(struct jp_stream *stream, struct rest rest,
                        const struct iovec *parts, size_t count, ssize_t done)
{
    return done > 0 ? jp_stream_rest(
                          stream,
                          (struct jp_parts){parts, count, 1, send_more, &rest},
                          (size_t)done)
                    : done;
}

JP_HOOK(ssize_t, sendto,
        (int fd, const void *data, size_t size, int flags,
         const struct sockaddr *to, socklen_t length))
{
    JP_REAL(sendto)
    JP_STREAM(stream);
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, data, size, flags, to, length);
    const struct iovec part = {(void *)data, size};
    return send_all(
        &stream, (struct rest){flags, to, length, NULL, 0}, &part, 1,
        JP_STREAM_AGAIN(&stream, real(fd, data, size, flags, to, length)));
}

JP_HOOK(ssize_t, send, (int fd, const void *data, size_t size, int flags))
{
    JP_REAL(send)
    JP_STREAM(stream);
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, data, size, flags);
    const struct iovec part = {(void *)data, size};
    return send_all(&stream, (struct rest){.flags = flags}, &part, 1,
                    JP_STREAM_AGAIN(&stream, real(fd, data, size, flags)));
}

/* The remaining bytes are sent without control data, which the first call has
 * sent. */
JP_HOOK(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags))
{
    JP_REAL(sendmsg)
    JP_STREAM(stream);
    if ((flags & MSG_DONTWAIT) != 0 ||
        !jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, message, flags);
    return send_all(&stream, (struct rest){.flags = flags}, message->msg_iov,
                    message->msg_iovlen,
                    JP_STREAM_AGAIN(&stream, real(fd, message, flags)));
}
