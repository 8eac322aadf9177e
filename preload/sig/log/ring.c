/* SPDX-License-Identifier: MIT
 *
 * The buffers that write samples of all threads.  Each sample takes the first
 * free one, so that only as many chunks are open as samples are written at the
 * same time.  While a handler is preempted as it writes, those of other threads
 * take the next buffer.
 * Runs in: handler, any thread. */
#include "ring.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "chunk.h"
#include "sig/os/sys.h"
#include "sig/state/config.h"
#include "sig/state/buffer.h"
#include "sig/state/process.h"

#define WRITERS 16U
#define YIELDS 1000U

/* A sample is written in a microsecond or two.  Buffers that have a chunk, or
 * are just being used, are looked at so often before another one opens a chunk:
 * the unused ends of chunks are a good part of a small log.  (No longer: the
 * handler that uses one may have lost its CPU.) */
#define LOOKS 500U

static struct jp_buffer *_Atomic writers[WRITERS];

/* How many of the buffers may be used: as many as half of a ring's chunks. */
static uint32_t most_sig(void)
{
    if (jp_config.ring_bytes == 0)
        return WRITERS;
    const uint32_t half = jp_log_ring_count_sig() / 2;
    return half < WRITERS ? half : WRITERS;
}

static struct jp_buffer *writer_sig(uint32_t index)
{
    struct jp_buffer *writer = atomic_load(&writers[index]), *none = NULL;
    if (writer != NULL)
        return writer;
    writer = jp_buffer_take_sig();
    if (writer != NULL &&
        !atomic_compare_exchange_strong(&writers[index], &none, writer)) {
        jp_buffer_return_sig(writer);
        writer = none;
    }
    return writer;
}

int jp_ring_wanted_sig(void)
{
    return jp_config.ring_bytes != 0 || jp_process.clock->sees_waits;
}

void jp_ring_ensure_sig(void)
{
    const uint32_t count = jp_ring_wanted_sig() ? most_sig() : 1;
    for (uint32_t i = 0; i < count; i++)
        writer_sig(i);
}

static int lock_sig(struct jp_buffer *writer)
{
    uint32_t idle = 0;
    return atomic_load(&writer->lock) == 0 &&
           atomic_compare_exchange_strong(&writer->lock, &idle, 1);
}

/* Takes one of the buffers that have a chunk: the first one of all only where
 * no other has room for so many bytes, so that those are filled.  NULL when
 * there is none, or none was free for a moment. */
static struct jp_buffer *take_open_sig(uint32_t most, uint32_t bytes)
{
    uint32_t busy = 1;
    for (uint32_t looks = 0; looks < LOOKS && busy != 0; looks += busy) {
        busy = 0;
        for (uint32_t i = most; i-- > 0;) {
            struct jp_buffer *writer = atomic_load(&writers[i]);
            if (writer == NULL || (atomic_load(&writer->offset) == 0 &&
                                   atomic_load(&writer->lock) == 0))
                continue;
            if (!lock_sig(writer)) {
                busy++;
                continue;
            }
            if (i == 0 ||
                (writer->chunk != NULL && writer->used + bytes <= writer->size))
                return writer;
            atomic_store(&writer->lock, 0);
        }
    }
    return NULL;
}

struct jp_buffer *jp_ring_take_sig(uint32_t bytes)
{
    const uint32_t most = most_sig();
    struct jp_buffer *writer = take_open_sig(most, bytes);
    if (writer != NULL)
        return writer;
    for (uint32_t i = 0; i < YIELDS; i++) {
        for (uint32_t j = 0; j < most; j++) {
            writer = writer_sig(j);
            if (writer != NULL && lock_sig(writer))
                return writer;
        }
        jp_sys_sig(SYS_sched_yield, 0, 0, 0, 0, 0);
    }
    return NULL;
}

struct jp_buffer *jp_ring_enter_sig(const struct jp_buffer *buffer)
{
    struct jp_buffer *writer =
        jp_ring_take_sig((uint32_t)(sizeof(struct jp_sample_record) +
                                    sizeof(struct jp_stack_record)) +
                         buffer->depth * 8U);
    if (writer != NULL) {
        writer->frames = buffer->frames;
        writer->depth = buffer->depth;
        writer->gap = buffer->gap;
    }
    return writer;
}

void jp_ring_reset_sig(void)
{
    for (uint32_t i = 0; i < WRITERS; i++)
        atomic_store(&writers[i], NULL);
}
