/* SPDX-License-Identifier: MIT
 *
 * A call that reads or writes a descriptor and waits, which a signal may end
 * early or cut short.
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

/* Before the call.  Returns 0 where no signal of jprof's can come. */
int jp_stream_begin(struct jp_stream *stream, int fd, enum jp_stream_way way);

/* After a failure: whether jprof's signal alone was the cause and the call is
 * to be made again.  Where the socket has a time-out, waits for it to be ready
 * first; errno is EAGAIN when the time is over. */
int jp_stream_go_on(struct jp_stream *stream);

/* The same without waiting for the descriptor. */
int jp_stream_ask_again(struct jp_stream *stream);

/* After a call that did less than it was asked to: whether that was due to
 * jprof's signal alone. */
int jp_stream_cut_short(struct jp_stream *stream);

/* `call`, which is -1 with errno, until it is done or a handler of the
 * program's ran. */
#define JP_STREAM_AGAIN(stream, call)                                          \
    ({                                                                         \
        __typeof__(call) again_;                                               \
        do                                                                     \
            again_ = call;                                                     \
        while (again_ < 0 && jp_stream_go_on(stream));                         \
        again_;                                                                \
    })

/* The second core of the hooks, "all of it": a call moved `done` bytes of some
 * parts, more than none.  Where jprof's signal cut it short, moves the rest: of
 * the part in which it stopped, then of those behind it, `most` of them at a
 * time.  `move` makes one call for parts: bytes, 0 to stop, or -1 with errno.
 * Returns the bytes in all. */
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
