/* SPDX-License-Identifier: MIT
 *
 * Hooks of read, write, their kin, and getrandom: a call that only jprof's
 * signal ended or cut short is made again, or continued.
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hooks/base/real.h"
#include "hooks/base/retry.h"
#include "sig/os/sys.h"
#include "stream.h"

/* The major number of a device, as the kernel tells it (new_decode_dev in
 * linux/kdev_t.h).  glibc's major() is a function of glibc alone where code is
 * compiled for size. */
static uint64_t major_of(uint64_t device)
{
    return (device & 0xfff00) >> 8;
}

/* Whether a file gives all bytes that a read asks for, so that a short read is
 * to be continued.  Pipes, sockets and terminals give what they have.
 * Character devices of major number 1 are /dev/zero, /dev/urandom and their
 * like (Linux devices.txt). */
static int gives_all(int fd)
{
    struct stat status;
    return jp_sys_fstat_sig(fd, &status) == 0 &&
           (S_ISREG(status.st_mode) ||
            (S_ISCHR(status.st_mode) && major_of(status.st_rdev) == 1));
}

static ssize_t read_more(struct jp_stream *stream, const struct iovec *parts,
                         size_t count, void *data)
{
    JP_REAL_DECLARED(read)
    (void)count;
    (void)data;
    return real(stream->fd, parts->iov_base, parts->iov_len);
}

JP_HOOK(ssize_t, read, (int fd, void *data, size_t size))
{
    JP_REAL(read)
    JP_STREAM(stream);
    if (!jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, data, size);
    const ssize_t done = JP_STREAM_AGAIN(&stream, real(fd, data, size));
    const struct iovec part = {data, size};
    const struct jp_parts rest = {&part, 1, 1, read_more, NULL};
    return done > 0 && (size_t)done < size && gives_all(fd)
               ? jp_stream_rest(&stream, rest, (size_t)done)
               : done;
}

/* What glibc's headers turn read into under _FORTIFY_SOURCE. */
JP_HOOK(ssize_t, __read_chk, (int fd, void *data, size_t size, size_t room))
{
    JP_REAL(__read_chk)
    return size > room ? real(fd, data, size, room) : read(fd, data, size);
}

JP_HOOK(ssize_t, readv, (int fd, const struct iovec *parts, int count))
{
    JP_REAL(readv)
    JP_STREAM(stream);
    if (!jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, parts, count);
    return JP_STREAM_AGAIN(&stream, real(fd, parts, count));
}

/* Writes one part by write, as a filter of the program's may forbid writev. */
static ssize_t write_more(struct jp_stream *stream, const struct iovec *parts,
                          size_t count, void *data)
{
    (void)data;
    if (count > 1) {
        JP_REAL_DECLARED(writev)
        return real(stream->fd, parts, (int)count);
    }
    JP_REAL_DECLARED(write)
    return real(stream->fd, parts->iov_base, parts->iov_len);
}

JP_HOOK(ssize_t, write, (int fd, const void *data, size_t size))
{
    JP_REAL(write)
    JP_STREAM(stream);
    if (!jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, data, size);
    const ssize_t done = JP_STREAM_AGAIN(&stream, real(fd, data, size));
    const struct iovec part = {(void *)data, size};
    const struct jp_parts rest = {&part, 1, 1, write_more, NULL};
    return done > 0 ? jp_stream_rest(&stream, rest, (size_t)done) : done;
}

JP_HOOK(ssize_t, writev, (int fd, const struct iovec *parts, int count))
{
    JP_REAL(writev)
    JP_STREAM(stream);
    if (!jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, parts, count);
    const ssize_t done = JP_STREAM_AGAIN(&stream, real(fd, parts, count));
    const struct jp_parts rest = {parts, (size_t)count, IOV_MAX, write_more,
                                  NULL};
    return done > 0 ? jp_stream_rest(&stream, rest, (size_t)done) : done;
}

/* A signal may end getrandom(2) after 256 bytes, and before the kernel has
 * gathered enough randomness.  (getentropy gives no more than 256 bytes, and
 * has no hook.) */
JP_HOOK(ssize_t, getrandom, (void *data, size_t size, unsigned flags))
{
    JP_REAL(getrandom)
    JP_RETRY(retry);
    if (!jp_retry_begin(&retry))
        return real(data, size, flags);
    size_t done = 0;
    for (;;) {
        ssize_t more = real((char *)data + done, size - done, flags);
        if (more < 0 && errno == EINTR && jp_retry_interrupted(&retry))
            continue;
        if (more < 0)
            return done > 0 ? (ssize_t)done : -1;
        done += (size_t)more;
        if (done >= size || !jp_retry_take_ours(&retry))
            return (ssize_t)done;
    }
}
