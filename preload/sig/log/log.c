/* SPDX-License-Identifier: MIT
 *
 * Chunks and records.  Only the owner of one buffer writes into a chunk, so a
 * record needs no atomic operation but the release store that ends it.
 * Runs in: handler, any thread. */
#include "log.h"

#include <errno.h>
#include <string.h>

#include "again.h"
#include "reserve.h"
#include "ring.h"
#include "share.h"
#include "sig/os/sys.h"
#include "sig/state/buffer.h"
#include "sig/state/process.h"
#include "stacks.h"
#include "storage.h"
#include "storage_ring.h"

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

/* Makes a chunk for a record of so many bytes.  Returns 0 or -errno. */
static int new_chunk_sig(struct jp_buffer *buffer, uint32_t bytes, uint32_t tid)
{
    jp_storage_give_sig(buffer);
    int error = jp_storage_take_sig(buffer, bytes + JP_CHUNK_HEADER_SIZE);
    if (error != 0)
        return error;
    jp_log_begin_chunk_sig(buffer->chunk, buffer->offset, buffer->size, tid);
    buffer->used = JP_CHUNK_HEADER_SIZE;
    jp_stacks_reset_sig(buffer);
    jp_again_reset_sig(buffer);
    error = jp_storage_write_sig(buffer, 0, buffer->size);
    if (error != 0)
        jp_storage_give_sig(buffer);
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
    return jp_storage_write_sig(buffer, at, head.words * 8U);
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
    if (buffer->chunk != NULL && buffer->ring != jp_storage_ring_now_sig())
        jp_storage_give_sig(buffer);
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
        jp_storage_give_sig(buffer);
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
        jp_storage_give_sig(buffer);
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
