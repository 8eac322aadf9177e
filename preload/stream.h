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

#include "retry.h"

enum jp_stream_way { JP_STREAM_IN, JP_STREAM_OUT };

struct jp_stream {
    struct jp_retry retry;
    int64_t begin;     /* when the call began */
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

/* Before the next of several calls that stand for one: whether no handler of
 * the program's ran yet. */
int jp_stream_undisturbed(const struct jp_stream *stream);

#endif
