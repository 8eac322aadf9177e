/* SPDX-License-Identifier: MIT
 *
 * Calls that read or write a descriptor and wait for it, which a signal may end
 * early, or cut short when a part of the bytes was moved.
 * Runs in: any thread, the program's handlers. */
#ifndef JP_STREAM_H
#define JP_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "hooks/base/retry.h"

enum jp_stream_way { JP_STREAM_IN, JP_STREAM_OUT };

struct jp_stream {
    struct jp_retry retry;
    int64_t begin; /* when the call began */
    int fd;
    enum jp_stream_way way;
};

static inline void jp_stream_end(struct jp_stream *stream)
{
    jp_retry_end(&stream->retry);
}

/* Declares a struct jp_stream whose call ends where its scope does. */
#define JP_STREAM(name)                                                        \
    struct jp_stream name __attribute__((cleanup(jp_stream_end))) = {0}

/* Called before a call.  Returns 0 where no signal of jprof's can come; the
 * hook then makes the call as it is. */
int jp_stream_begin(struct jp_stream *stream, int fd, enum jp_stream_way way);

/* Called after a call has failed.  Returns 1 if only jprof's signal was the
 * cause and the call is to be made again; if the socket has a time-out, waits
 * for the socket to be ready first.  Returns 0 otherwise, with errno: EAGAIN
 * when the time-out is over. */
int jp_stream_go_on(struct jp_stream *stream);

/* As jp_stream_go_on, but never waits for the socket. */
int jp_stream_ask_again(struct jp_stream *stream);

/* Makes `call`, which returns -1 and sets errno, until it is done or a handler
 * of the program's ran.  Is the call's last result. */
#define JP_STREAM_AGAIN(stream, call)                                          \
    ({                                                                         \
        __typeof__(call) again_;                                               \
        do                                                                     \
            again_ = JP_RETRY_IN(&(stream)->retry, 1, call);                   \
        while (again_ < 0 && jp_stream_go_on(stream));                         \
        again_;                                                                \
    })

/* The second core of the hooks, "all of it": a call has moved `done` bytes,
 * more than 0, of these parts.  If jprof's signal cut it short, moves the
 * rest: first of the part in which the call stopped, then of the parts behind
 * it, `most` of them at a time.  move: makes one such call; returns the bytes
 * moved, 0 to stop, or -1 with errno.  Returns the bytes moved in all. */
struct jp_parts {
    const struct iovec *parts;
    size_t count, most;
    ssize_t (*move)(struct jp_stream *stream, const struct iovec *parts,
                    size_t count, void *data);
    void *data;
};
ssize_t jp_stream_rest(struct jp_stream *stream, struct jp_parts rest,
                       size_t done);

#endif
