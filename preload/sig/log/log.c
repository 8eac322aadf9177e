/* SPDX-License-Identifier: MIT
 *
 * Chunks and records.  Only the owner of one buffer writes into a chunk, so a
 * record needs no atomic operation but the release store that ends it.
 * Runs in: handler, any thread. */
#include "log.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "again.h"
#include "reserve.h"
#include "ring.h"
#include "share.h"
#include "sig/os/sys.h"
#include "sig/state/config.h"
#include "sig/state/buffer.h"
#include "sig/state/process.h"
#include "sig/state/thread.h"
#include "stacks.h"

/* A chunk that threads share is this part of the log so far at most, or has so
 * many bytes for each thread. */
#define CHUNKS_LEAST 16U
#define THREAD_BYTES 128ULL

#define SHARED_LARGEST 16384U /* bytes of a chunk of the shared area */

/* Whether an address is in a chunk that some buffer has. */
static int is_chunk_sig(uint64_t address)
{
    const uint32_t count = jp_buffers_made_sig();
    for (uint32_t i = 0; i < count; i++) {
        const struct jp_buffer *buffer = jp_buffer_at_sig(i);
        if (buffer != NULL && buffer->chunk != NULL &&
            address - (uint64_t)buffer->chunk < buffer->size)
            return 1;
    }
    return 0;
}

int jp_log_patch_sig(uint64_t address)
{
    const uint64_t page = jp_process.page_size;
    if (address - (uint64_t)jp_log.header >= JP_LOG_HEADER_SIZE &&
        !jp_reserve_has_sig(address) && !jp_share_has_sig(address) &&
        !is_chunk_sig(address))
        return 0;
    if (jp_sys_patch_sig(address & ~(page - 1), page) != 0)
        return 0;
    jp_log_tell_cut_sig();
    return 1;
}

/* In a direct log, writes bytes of the chunk's memory to the file.  Returns 0
 * or -errno. */
static int push_sig(const struct jp_buffer *buffer, uint32_t at, uint32_t size)
{
    if (!jp_log.direct)
        return 0;
    int fd = jp_log_open_sig();
    if (fd < 0)
        return fd;
    long done = -EFBIG;
    if (buffer->offset + at + size <= jp_sys_file_limit_sig())
        done = jp_sys_pwrite_sig(fd, buffer->chunk + at, size,
                                 buffer->offset + at);
    jp_sys_close_sig(fd);
    return done == (long)size ? 0 : done < 0 ? (int)done : -ENOSPC;
}

static uint32_t ring_now_sig(void)
{
    return (uint32_t)(atomic_load(&jp_log.ring) >> JP_LOG_TURN_BITS);
}

static int can_open_sig(void)
{
    int fd = jp_log_open_sig();
    if (fd >= 0)
        jp_sys_close_sig(fd);
    return fd >= 0;
}

void jp_log_ring_rotate_sig(void)
{
    const uint64_t turns = (1ULL << JP_LOG_TURN_BITS) - 1;
    uint64_t ring = atomic_load(&jp_log.ring);
    /* Once the file cannot be opened, no other ring can be mapped. */
    if (jp_config.ring_bytes == 0 || !can_open_sig())
        return;
    do {
        if ((ring & turns) == 0)
            return;
    } while (
        !atomic_compare_exchange_weak(&jp_log.ring, &ring, (ring | turns) + 1));
}

/* Gives up the buffer's chunk.  A chunk of the reserve stays mapped. */
static void drop_chunk_sig(struct jp_buffer *buffer)
{
    const uint64_t offset = atomic_load(&buffer->offset);
    if (buffer->chunk != NULL &&
        jp_share_at_sig(offset, buffer->size) == buffer->chunk)
        jp_share_give_sig(offset);
    else if (buffer->chunk != NULL &&
             jp_reserve_at_sig(offset, buffer->size) != buffer->chunk)
        jp_sys_unmap_sig(buffer->chunk, buffer->size);
    buffer->chunk = NULL;
    atomic_store(&buffer->offset, 0);
}

/* Takes the chunk at `offset` away from the buffer that has it.  Returns 0 when
 * a sample is just being written into it. */
static int evict_sig(uint64_t offset, const struct jp_buffer *taker)
{
    uint32_t count = jp_buffers_made_sig();
    for (uint32_t i = 0; i < count; i++) {
        struct jp_buffer *buffer = jp_buffer_at_sig(i);
        uint32_t idle = 0;
        if (buffer == NULL || buffer == taker ||
            atomic_load(&buffer->offset) != offset)
            continue;
        if (!atomic_compare_exchange_strong(&buffer->lock, &idle, 2))
            return 0;
        if (buffer->chunk != NULL && atomic_load(&buffer->offset) == offset)
            drop_chunk_sig(buffer);
        atomic_store(&buffer->lock, 0);
    }
    return 1;
}

/* Takes the place of the ring's next chunk and sets buffer->offset to it.  The
 * place is claimed there before other buffers are looked at, so of two that
 * claim the same place at once, at least one sees the other and goes on to the
 * next.  Returns 0 when samples are being written into all of them. */
static int ring_place_sig(struct jp_buffer *buffer)
{
    const uint32_t count = jp_log_ring_count_sig();
    const uint64_t size = jp_log_ring_chunk_sig();
    for (uint32_t i = 0; i < count; i++) {
        uint64_t taken = atomic_fetch_add(&jp_log.ring, 1);
        uint64_t ring = taken >> JP_LOG_TURN_BITS;
        uint64_t turn = taken & ((1ULL << JP_LOG_TURN_BITS) - 1);
        uint64_t offset =
            jp_log.ring_start + (ring * count + turn % count) * size;
        atomic_store(&buffer->offset, offset);
        if (!evict_sig(offset, buffer))
            continue;
        buffer->ring = (uint32_t)ring;
        if (turn >= count)
            jp_count_sig(JP_COUNT_RING_REUSED, 1);
        return 1;
    }
    atomic_store(&buffer->offset, 0);
    return 0;
}

/* (Chunks that threads share stay small while the log is, as what is unused of
 * those that are open at the end is a small part of it then; but large enough
 * for some samples of each thread.) */
static uint32_t chunk_size_sig(const struct jp_buffer *buffer, uint32_t bytes)
{
    const uint64_t part =
        (atomic_load(&jp_log.next) - jp_log.start) / CHUNKS_LEAST;
    const uint64_t wanted = jp_threads_taken_sig() * THREAD_BYTES;
    const uint64_t most = part > wanted ? part : wanted;
    uint32_t size =
        buffer->next_size < JP_CHUNK_MIN ? JP_CHUNK_MIN : buffer->next_size;
    while (jp_ring_wanted_sig() && size > JP_CHUNK_MIN && size > most)
        size /= 2;
    while (size < bytes + JP_CHUNK_HEADER_SIZE && size < JP_CHUNK_MAX)
        size *= 2;
    return size;
}

/* Opens the log, after a wait where handlers in other threads have the
 * program's last descriptors. */
static int open_patiently_sig(void)
{
    struct jp_sys_wait wait = {0};
    int fd = jp_log_open_sig();
    while (jp_sys_awaits_descriptor_sig(fd, &wait))
        fd = jp_log_open_sig();
    return fd;
}

static void *map_chunk_sig(uint64_t offset, uint32_t size, int *error)
{
    void *memory = jp_reserve_at_sig(offset, size);
    if (memory != NULL)
        return memory;
    int fd = open_patiently_sig();
    *error = fd < 0 ? fd : 0;
    if (fd < 0)
        return NULL;
    if (jp_log.direct) {
        memory = jp_sys_memory_sig(size, JP_FORK_DROP);
    } else {
        *error = jp_sys_allocate_sig(fd, offset, size);
        if (*error == 0)
            jp_log_grow_sig(offset + size);
        if (*error == 0)
            memory = jp_sys_map_file_sig(fd, offset, size);
    }
    jp_sys_close_sig(fd);
    if (memory == NULL && *error == 0)
        *error = -ENOMEM;
    return memory;
}

static void open_chunk_sig(struct jp_buffer *buffer, uint32_t tid)
{
    if (jp_config.ring_bytes != 0)
        jp_log_clean_sig(buffer->chunk, buffer->size);
    jp_log_begin_chunk_sig(buffer->chunk, buffer->offset, buffer->size, tid);
    buffer->used = JP_CHUNK_HEADER_SIZE;
    jp_stacks_reset_sig(buffer);
    jp_again_reset_sig(buffer);
}

/* Gives back the chunks of the shared area that other threads' buffers have and
 * are not writing to. */
static void release_others_sig(const struct jp_buffer *taker)
{
    const uint32_t count = jp_buffers_made_sig();
    for (uint32_t i = 0; i < count; i++) {
        const struct jp_buffer *buffer = jp_buffer_at_sig(i);
        if (buffer != NULL && buffer != taker &&
            atomic_load(&buffer->offset) != 0)
            evict_sig(atomic_load(&buffer->offset), taker);
    }
}

/* Takes a chunk of the shared area for a record of so many bytes.  Returns 0
 * when none is large enough. */
static int share_chunk_sig(struct jp_buffer *buffer, uint32_t bytes)
{
    const uint32_t most =
        buffer->next_size < SHARED_LARGEST ? buffer->next_size : SHARED_LARGEST;
    uint64_t offset;
    bytes += JP_CHUNK_HEADER_SIZE;
    uint32_t size = jp_share_take_sig(bytes, most, &offset);
    if (size == 0 && jp_share_is_there_sig()) {
        release_others_sig(buffer);
        size = jp_share_take_sig(bytes, most, &offset);
    }
    if (size == 0)
        return 0;
    atomic_store(&buffer->offset, offset);
    buffer->size = size;
    buffer->chunk = jp_share_at_sig(offset, size);
    return 1;
}

static int new_chunk_sig(struct jp_buffer *buffer, uint32_t bytes, uint32_t tid)
{
    const int ring = jp_config.ring_bytes != 0;
    int error = -ENOSPC;
    drop_chunk_sig(buffer);
    buffer->size =
        ring ? jp_log_ring_chunk_sig() : chunk_size_sig(buffer, bytes);
    if (bytes + JP_CHUNK_HEADER_SIZE > buffer->size)
        return -EMSGSIZE;
    if (ring && !ring_place_sig(buffer))
        return -EBUSY;
    if (!ring && !jp_log.shared)
        atomic_store(&buffer->offset,
                     atomic_fetch_add(&jp_log.next, buffer->size));
    if (!jp_log.shared)
        buffer->chunk = map_chunk_sig(buffer->offset, buffer->size, &error);
    if (buffer->chunk == NULL && (ring || !share_chunk_sig(buffer, bytes))) {
        atomic_store(&buffer->offset, 0);
        return error;
    }
    open_chunk_sig(buffer, tid);
    error = push_sig(buffer, 0, buffer->size);
    if (error != 0)
        drop_chunk_sig(buffer);
    buffer->next_size =
        buffer->size < JP_CHUNK_LARGEST ? buffer->size * 2 : JP_CHUNK_LARGEST;
    return error;
}

/* Completes a record by storing its first word.  info_words: its info << 16 |
 * its words.  Returns 0 or -errno. */
static int commit_sig(struct jp_buffer *buffer, void *record, unsigned type,
                      unsigned info_words)
{
    const struct jp_record head = {(uint8_t)type, (uint8_t)(info_words >> 16),
                                   (uint16_t)info_words};
    uint32_t word, at = buffer->used;
    memcpy(&word, &head, sizeof(word));
    __atomic_store_n((uint32_t *)record, word, __ATOMIC_RELEASE);
    buffer->used += head.words * 8U;
    return push_sig(buffer, at, head.words * 8U);
}

static int put_stack_sig(struct jp_buffer *buffer, uint16_t *ref)
{
    struct jp_stack_record *record =
        (struct jp_stack_record *)(buffer->chunk + buffer->used);
    uint32_t shared = jp_stacks_shared_sig(buffer);
    uint32_t count = buffer->depth - shared;
    record->count = (uint16_t)count;
    record->shared = (uint16_t)shared;
    record->base = shared != 0 ? buffer->last_ref : 0;
    record->gap = (uint16_t)buffer->gap;
    record->reserved = 0;
    memcpy(record->frames, buffer->frames, count * sizeof(uint64_t));
    *ref = (uint16_t)(buffer->used / 8);
    jp_stacks_add_sig(buffer, *ref, shared);
    return commit_sig(buffer, record, JP_RECORD_STACK, 2 + count);
}

static int put_sample_sig(struct jp_buffer *buffer,
                          const struct jp_sample *sample, uint16_t ref)
{
    void *at = buffer->chunk + buffer->used;
    struct jp_sample_record *record = at;
    const unsigned info =
        (unsigned)JP_SAMPLE_INFO(sample->event, sample->reason) << 16;
    if (jp_again_fill_sig(buffer, sample, ref, at))
        return commit_sig(buffer, at, JP_RECORD_AGAIN, 2U | info);
    uint64_t weight = sample->weight_ns < JP_SAMPLE_WEIGHT_MAX
                          ? sample->weight_ns
                          : JP_SAMPLE_WEIGHT_MAX;
    record->tid = sample->tid;
    record->time_ns = sample->time_ns;
    record->weight_stack = JP_SAMPLE_PACK(weight, ref);
    jp_again_add_sig(buffer, sample->tid, ref, (uint16_t)(buffer->used / 8));
    return commit_sig(buffer, record, JP_RECORD_SAMPLE, 3U | info);
}

/* Gives up a chunk of a ring that is kept as it is. */
static void leave_old_ring_sig(struct jp_buffer *buffer)
{
    if (buffer->chunk != NULL && jp_config.ring_bytes != 0 &&
        buffer->ring != ring_now_sig())
        drop_chunk_sig(buffer);
}

static int write_sig(struct jp_buffer *buffer, const struct jp_sample *sample)
{
    const uint32_t sample_size = sizeof(struct jp_sample_record);
    const uint32_t stack_size =
        (uint32_t)sizeof(struct jp_stack_record) + buffer->depth * 8U;
    int error = 0;
    leave_old_ring_sig(buffer);
    uint16_t ref = 0;
    int known = buffer->chunk != NULL && jp_stacks_find_sig(buffer, &ref);
    uint32_t need = sample_size + (known ? 0 : stack_size);
    if (buffer->chunk == NULL || buffer->used + need > buffer->size) {
        error = new_chunk_sig(buffer, sample_size + stack_size, sample->tid);
        known = 0;
    }
    if (error == 0 && !known && buffer->depth > 0)
        error = put_stack_sig(buffer, &ref);
    if (error == 0)
        error = put_sample_sig(buffer, sample, ref);
    /* A reader could read nothing behind a record that is not in the file. */
    if (error != 0)
        drop_chunk_sig(buffer);
    return error;
}

/* Says once that samples are lost.  Where the log was cut short (-EBUSY,
 * jp_log.cut), the end of the signal's handler says so. */
static void complain_sig(int error)
{
    if (error != -EBUSY && atomic_load(&jp_log.cut) == 0 &&
        atomic_exchange(&jp_log.space_complained, 1) == 0)
        jp_complain_sig("samples are being lost, cannot add to ", jp_log.path,
                        -error);
}

int jp_log_write_sig(struct jp_buffer *buffer, const struct jp_sample *sample)
{
    uint32_t idle = 0;
    int error = -EBUSY;
    if (jp_ring_wanted_sig())
        buffer = jp_ring_enter_sig(buffer);
    else if (!atomic_compare_exchange_strong(&buffer->lock, &idle, 1))
        buffer = NULL;
    if (buffer != NULL) {
        error = write_sig(buffer, sample);
        atomic_store(&buffer->lock, 0);
    }
    /* Samples while the process ends are not counted as lost. */
    if (error == 0 || jp_share_has_ended_sig())
        return error;
    jp_count_sig(JP_COUNT_LOST_NO_SPACE, 1);
    jp_count_sig(JP_COUNT_LOST_NS, sample->weight_ns);
    complain_sig(error);
    return error;
}

static int put_mark_sig(struct jp_buffer *buffer, const struct jp_mark *mark)
{
    const uint32_t size =
        ((uint32_t)JP_MARK_RECORD_SIZE + mark->length + 7) & ~7U;
    int error = 0;
    leave_old_ring_sig(buffer);
    if (buffer->chunk == NULL || buffer->used + size > buffer->size)
        error = new_chunk_sig(buffer, size, mark->tid);
    if (error == 0) {
        struct jp_mark_record *record =
            (struct jp_mark_record *)(buffer->chunk + buffer->used);
        record->tid = mark->tid;
        record->time_ns = mark->time_ns;
        record->length = mark->length;
        memcpy(record->name, mark->name, mark->length);
        error = commit_sig(buffer, record, JP_RECORD_MARK,
                           size / 8 | (unsigned)mark->kind << 16);
    }
    if (error != 0)
        drop_chunk_sig(buffer);
    return error;
}

int jp_log_mark_sig(const struct jp_mark *mark)
{
    struct jp_buffer *buffer =
        jp_ring_take_sig((uint32_t)JP_MARK_RECORD_SIZE + mark->length + 7);
    int error = -EBUSY;
    if (buffer != NULL) {
        error = put_mark_sig(buffer, mark);
        atomic_store(&buffer->lock, 0);
    }
    if (error == 0 || jp_share_has_ended_sig())
        return error;
    jp_count_sig(JP_COUNT_LOST_MARKS, 1);
    complain_sig(error);
    return error;
}
