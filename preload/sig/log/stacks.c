/* SPDX-License-Identifier: MIT
 *
 * The stack table of a chunk.
 * Runs in: handler, any thread. */
#include "stacks.h"

#include <string.h>

#include "jp_log.h"
#include "sig/state/buffer.h"

#define PROBES 8U     /* entries tried for one hash */
#define CHAIN_MAX 24U /* records that a stack may be spread over */
#define SHARED_MIN 4U /* fewer shared frames are not worth a reference */

void jp_stacks_reset_sig(struct jp_buffer *buffer)
{
    buffer->last_ref = 0;
    buffer->last_depth = 0;
    buffer->chain = 0;
    if (++buffer->epoch == 0) {
        memset(buffer->table, 0, sizeof(buffer->table));
        buffer->epoch = 1;
    }
}

static uint64_t mix_sig(uint64_t hash, uint64_t frame)
{
    hash = (hash ^ frame) * 0x9e3779b97f4a7c15ULL;
    return hash << 29 | hash >> 35;
}

/* Multiplies and rotates for each frame, for both halves of the stack by turns,
 * which need not wait for each other.  It need not be a good hash: stacks with
 * the same one are compared. */
static uint64_t hash_sig(const struct jp_buffer *buffer)
{
    const uint64_t *frames = buffer->frames;
    const uint32_t half = buffer->depth / 2;
    uint64_t a = buffer->gap, b = buffer->depth;
    for (uint32_t i = 0; i < half; i++) {
        a = mix_sig(a, frames[i]);
        b = mix_sig(b, frames[half + i]);
    }
    if (buffer->depth % 2 != 0)
        a = mix_sig(a, frames[buffer->depth - 1]);
    a = mix_sig(a, b);
    return a ^ a >> 32;
}

/* Reads a field of a record once, since others may change the file between a
 * check and a second read. */
#define FIELD(record, name)                                                    \
    ((uint32_t)__atomic_load_n(&(record)->name, __ATOMIC_RELAXED))

/* Compares the buffer's stack with the record at ref and those it builds on. */
static int same_sig(const struct jp_buffer *buffer, uint16_t ref)
{
    uint32_t at = 0, skip = 0;
    for (uint32_t link = 0; link <= CHAIN_MAX; link++) {
        uint32_t place = ref * 8U;
        if (place < JP_CHUNK_HEADER_SIZE ||
            place + sizeof(struct jp_stack_record) > buffer->used)
            return 0;
        const struct jp_stack_record *record =
            (const struct jp_stack_record *)(buffer->chunk + place);
        const uint32_t count = FIELD(record, count);
        const uint32_t shared = FIELD(record, shared);
        const uint32_t base_ref = FIELD(record, base);
        const uint32_t depth = count + shared;
        if (place + sizeof(*record) + count * 8U > buffer->used ||
            skip > depth || depth - skip != buffer->depth - at ||
            (link == 0 && FIELD(record, gap) != buffer->gap))
            return 0;
        uint32_t here = skip < count ? count - skip : 0;
        if (memcmp(buffer->frames + at,
                   record->frames + (skip < count ? skip : 0),
                   here * sizeof(uint64_t)) != 0)
            return 0;
        at += here;
        if (at == buffer->depth)
            return 1;
        /* The remaining frames are the last `shared` frames of the base stack,
         * less those that were skipped here. */
        uint32_t over = skip > count ? skip - count : 0;
        const struct jp_stack_record *base =
            (const struct jp_stack_record *)(buffer->chunk + base_ref * 8U);
        if (base_ref * 8U < JP_CHUNK_HEADER_SIZE || base_ref * 8U >= place)
            return 0;
        skip = FIELD(base, count) + FIELD(base, shared) - shared + over;
        ref = (uint16_t)base_ref;
    }
    return 0;
}

int jp_stacks_find_sig(const struct jp_buffer *buffer, uint16_t *ref)
{
    *ref = 0;
    if (buffer->depth == 0)
        return 1;
    /* Most often it is the last stack again. */
    if (buffer->last_ref != 0 && buffer->depth == buffer->last_depth &&
        buffer->gap == buffer->last_gap &&
        memcmp(buffer->frames, buffer->last,
               buffer->depth * sizeof(uint64_t)) == 0) {
        *ref = buffer->last_ref;
        return 1;
    }
    uint64_t hash = hash_sig(buffer);
    for (uint32_t i = 0; i < PROBES; i++) {
        const struct jp_buffer_entry *entry =
            &buffer->table[(hash + i) % JP_BUFFER_TABLE];
        if (entry->epoch != buffer->epoch)
            return 0;
        if (entry->tag == hash >> 32 && same_sig(buffer, entry->ref)) {
            *ref = entry->ref;
            return 1;
        }
    }
    return 0;
}

uint32_t jp_stacks_shared_sig(const struct jp_buffer *buffer)
{
    uint32_t shared = 0;
    uint32_t limit =
        buffer->depth < buffer->last_depth ? buffer->depth : buffer->last_depth;
    if (buffer->last_ref == 0 || buffer->chain >= CHAIN_MAX)
        return 0;
    while (shared < limit && buffer->frames[buffer->depth - 1 - shared] ==
                                 buffer->last[buffer->last_depth - 1 - shared])
        shared++;
    return shared < SHARED_MIN ? 0 : shared;
}

void jp_stacks_add_sig(struct jp_buffer *buffer, uint16_t ref, uint32_t shared)
{
    uint64_t hash = hash_sig(buffer);
    uint32_t place = hash % JP_BUFFER_TABLE;
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t next = (hash + i) % JP_BUFFER_TABLE;
        if (buffer->table[next].epoch != buffer->epoch) {
            place = next;
            break;
        }
    }
    buffer->table[place] =
        (struct jp_buffer_entry){(uint32_t)(hash >> 32), ref, buffer->epoch};
    memcpy(buffer->last, buffer->frames, buffer->depth * sizeof(uint64_t));
    buffer->last_depth = buffer->depth;
    buffer->last_gap = buffer->gap;
    buffer->last_ref = ref;
    buffer->chain = shared != 0 ? buffer->chain + 1 : 0;
}
