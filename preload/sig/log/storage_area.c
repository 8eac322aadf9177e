/* SPDX-License-Identifier: MIT
 *
 * The storage in the shared area.
 * Runs in: handler, any thread. */
#include "storage_area.h"

#include <errno.h>
#include <stdatomic.h>

#include "chunk.h"
#include "share.h"
#include "sig/state/buffer.h"
#include "storage.h"

#define LARGEST 16384U /* bytes of a chunk */

/* Gives back the chunks that other threads' buffers have and are not writing
 * to. */
static void release_others_sig(const struct jp_buffer *taker)
{
    const uint32_t count = jp_buffers_made_sig();
    for (uint32_t i = 0; i < count; i++) {
        const struct jp_buffer *buffer = jp_buffer_at_sig(i);
        if (buffer != NULL && buffer != taker &&
            atomic_load(&buffer->offset) != 0)
            jp_storage_evict_sig(atomic_load(&buffer->offset), taker);
    }
}

int jp_storage_area_take_sig(struct jp_buffer *buffer, uint32_t bytes)
{
    const uint32_t most =
        buffer->next_size < LARGEST ? buffer->next_size : LARGEST;
    uint64_t offset;
    if (bytes > JP_CHUNK_MAX)
        return -EMSGSIZE;
    uint32_t size = jp_share_take_sig(bytes, most, &offset);
    if (size == 0 && jp_share_is_there_sig()) {
        release_others_sig(buffer);
        size = jp_share_take_sig(bytes, most, &offset);
    }
    if (size == 0)
        return -ENOSPC;
    atomic_store(&buffer->offset, offset);
    buffer->size = size;
    buffer->chunk = jp_share_at_sig(offset, size);
    return 0;
}

void jp_storage_area_end_sig(void)
{
    uint64_t used, end;
    if (jp_share_end_sig(&used, &end))
        jp_share_return_sig(used);
}

const struct jp_storage jp_storage_area = {
    .take_sig = jp_storage_area_take_sig,
    .give_sig = jp_share_give_sig,
    .address_sig = jp_share_at_sig,
    .end_sig = jp_storage_area_end_sig,
};
