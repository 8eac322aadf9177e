/* SPDX-License-Identifier: MIT
 *
 * read and write, their kin, and getrandom: what jprof's signal cut short is
 * continued.
 * Runs in: any thread, the program's handlers. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "real.h"
#include "retry.h"
#include "sig/sys.h"
#include "stream.h"

typedef ssize_t read_function(int, void *, size_t);
typedef ssize_t read_check_function(int, void *, size_t, size_t);
typedef ssize_t write_function(int, const void *, size_t);
typedef ssize_t vector_function(int, const struct iovec *, int);
typedef ssize_t random_function(void *, size_t, unsigned);

/* Whether a short read is no answer: pipes, sockets and terminals give what
 * they have, and would be waited for.  Character devices of major number 1 are
 * /dev/zero, /dev/urandom and their like (Linux devices.txt). */
static int gives_all(int fd)
{
    struct stat status;
    return jp_sys_fstat_sig(fd, &status) == 0 &&
           (S_ISREG(status.st_mode) ||
            (S_ISCHR(status.st_mode) && major(status.st_rdev) == 1));
}

JP_HOOK(ssize_t, read, (int fd, void *data, size_t size))
{
    JP_REAL(read_function, read)
    struct jp_stream stream;
    if (!jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, data, size);
    ssize_t result;
    do
        result = real(fd, data, size);
    while (result < 0 && jp_stream_go_on(&stream));
    if (result <= 0)
        return result;
    size_t done = (size_t)result;
    while (done < size && jp_stream_cut_short(&stream) && gives_all(fd)) {
        result = real(fd, (char *)data + done, size - done);
        if (result <= 0)
            break;
        done += (size_t)result;
    }
    return (ssize_t)done;
}

/* What glibc's headers turn read into under _FORTIFY_SOURCE. */
JP_HOOK(ssize_t, __read_chk, (int fd, void *data, size_t size, size_t room))
{
    JP_REAL(read_check_function, __read_chk)
    return size > room ? real(fd, data, size, room) : read(fd, data, size);
}

JP_HOOK(ssize_t, readv, (int fd, const struct iovec *parts, int count))
{
    JP_REAL(vector_function, readv)
    struct jp_stream stream;
    if (!jp_stream_begin(&stream, fd, JP_STREAM_IN))
        return real(fd, parts, count);
    ssize_t result;
    do
        result = real(fd, parts, count);
    while (result < 0 && jp_stream_go_on(&stream));
    return result;
}

/* Writes on after `done` bytes, of which some went before. */
static ssize_t write_on(struct jp_stream *stream, write_function *real,
                        const char *data, size_t size, size_t done)
{
    while (done < size && jp_stream_cut_short(stream)) {
        ssize_t more = real(stream->fd, data + done, size - done);
        while (more < 0 && jp_stream_go_on(stream))
            more = real(stream->fd, data + done, size - done);
        if (more <= 0)
            break;
        done += (size_t)more;
    }
    return (ssize_t)done;
}

JP_HOOK(ssize_t, write, (int fd, const void *data, size_t size))
{
    JP_REAL(write_function, write)
    struct jp_stream stream;
    if (!jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, data, size);
    ssize_t result;
    do
        result = real(fd, data, size);
    while (result < 0 && jp_stream_go_on(&stream));
    return result > 0 ? write_on(&stream, real, data, size, (size_t)result)
                      : result;
}

/* Writes one part from `skip` on; returns how far it came. */
static size_t write_part(struct jp_stream *stream, const struct iovec *part,
                         size_t skip)
{
    JP_REAL(write_function, write)
    const char *data = part->iov_base;
    while (skip < part->iov_len) {
        ssize_t more = real(stream->fd, data + skip, part->iov_len - skip);
        if (more < 0 && jp_stream_go_on(stream))
            continue;
        if (more <= 0)
            break;
        skip += (size_t)more;
        if (skip < part->iov_len && !jp_stream_cut_short(stream))
            break;
    }
    return skip;
}

/* The rest of a write of many parts: of the one in which it stopped, and then
 * those behind it. */
static ssize_t write_parts(struct jp_stream *stream, vector_function *real,
                           const struct iovec *parts, int count, size_t done)
{
    size_t skip = done;
    for (;;) {
        for (; count > 0 && skip >= parts->iov_len; parts++, count--)
            skip -= parts->iov_len;
        if (count == 0 || !jp_stream_cut_short(stream))
            return (ssize_t)done;
        const size_t end = write_part(stream, parts, skip);
        done += end - skip;
        if (end < parts->iov_len || count == 1)
            return (ssize_t)done;
        parts++;
        count--;
        ssize_t more;
        do
            more = real(stream->fd, parts, count);
        while (more < 0 && jp_stream_go_on(stream));
        if (more <= 0)
            return (ssize_t)done;
        done += (size_t)more;
        skip = (size_t)more;
    }
}

JP_HOOK(ssize_t, writev, (int fd, const struct iovec *parts, int count))
{
    JP_REAL(vector_function, writev)
    struct jp_stream stream;
    if (!jp_stream_begin(&stream, fd, JP_STREAM_OUT))
        return real(fd, parts, count);
    ssize_t result;
    do
        result = real(fd, parts, count);
    while (result < 0 && jp_stream_go_on(&stream));
    return result > 0
               ? write_parts(&stream, real, parts, count, (size_t)result)
               : result;
}

/* getrandom(2): a signal may end it beyond 256 bytes, and before the kernel
 * has gathered enough to begin with.  getentropy gives no more than 256, and
 * waits by itself. */
JP_HOOK(ssize_t, getrandom, (void *data, size_t size, unsigned flags))
{
    JP_REAL(random_function, getrandom)
    struct jp_retry retry;
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
        if (done >= size || !jp_retry_ours(&retry))
            return (ssize_t)done;
    }
}
