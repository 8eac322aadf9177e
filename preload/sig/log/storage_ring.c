/* SPDX-License-Identifier: MIT
 *
 * The storage of a ring.
 * Runs in: handler, any thread. */
#include "storage_ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "chunk.h"
#include "reserve.h"
#include "sig/os/sys.h"
#include "sig/state/buffer.h"
#include "sig/state/config.h"
#include "sig/state/process.h"
#include "storage.h"
#include "storage_file.h"

uint32_t jp_storage_ring_now_sig(void)
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

/* Takes the place of the ring's next chunk and sets buffer->offset to it.  The
 * place is claimed there before other buffers are looked at, so of two that
 * claim the same place at once, at least one sees the other and goes on to the
 * next.  Returns 0, or -EBUSY when samples are being written into all of
 * them. */
static int claim_sig(struct jp_buffer *buffer)
{
    const uint32_t count = jp_log_ring_count_sig();
    for (uint32_t i = 0; i < count; i++) {
        uint64_t taken = atomic_fetch_add(&jp_log.ring, 1);
        uint64_t ring = taken >> JP_LOG_TURN_BITS;
        uint64_t turn = taken & ((1ULL << JP_LOG_TURN_BITS) - 1);
        uint64_t offset =
            jp_log.ring_start + (ring * count + turn % count) * buffer->size;
        atomic_store(&buffer->offset, offset);
        if (!jp_storage_evict_sig(offset, buffer))
            continue;
        buffer->ring = (uint32_t)ring;
        if (turn >= count)
            jp_count_sig(JP_COUNT_RING_REUSED, 1);
        return 0;
    }
    return -EBUSY;
}

static int place_sig(struct jp_buffer *buffer, uint32_t bytes)
{
    buffer->size = jp_log_ring_chunk_sig();
    return bytes > buffer->size ? -EMSGSIZE : claim_sig(buffer);
}

static int take_mapped_sig(struct jp_buffer *buffer, uint32_t bytes)
{
    int error = place_sig(buffer, bytes);
    if (error != 0)
        return error;
    buffer->chunk =
        jp_reserve_at_sig(atomic_load(&buffer->offset), buffer->size);
    if (buffer->chunk == NULL)
        error = jp_storage_map_sig(buffer);
    if (error == 0)
        jp_log_clean_sig(buffer->chunk, buffer->size);
    return error;
}

static int take_memory_sig(struct jp_buffer *buffer, uint32_t bytes)
{
    const int error = place_sig(buffer, bytes);
    return error != 0 ? error : jp_storage_memory_sig(buffer);
}

const struct jp_storage jp_storage_ring = {
    .take_sig = take_mapped_sig,
    .address_sig = jp_reserve_at_sig,
};

const struct jp_storage jp_storage_written_ring = {
    .take_sig = take_memory_sig,
    .write_sig = jp_storage_pwrite_sig,
};
