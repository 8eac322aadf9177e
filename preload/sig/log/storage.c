/* SPDX-License-Identifier: MIT
 *
 * Taking and giving back the space of chunks, in any kind of storage.
 * Runs in: handler, any thread. */
#include "storage.h"

#include <stdatomic.h>
#include <stddef.h>

#include "sig/os/sys.h"
#include "sig/state/buffer.h"

int jp_storage_take_sig(struct jp_buffer *buffer, uint32_t bytes)
{
    const struct jp_storage *storage = jp_log.storage;
    int error = storage->take_sig(buffer, bytes);
    if (error != 0 && storage->fallback != NULL &&
        storage->fallback->take_sig(buffer, bytes) == 0)
        error = 0;
    if (error != 0)
        atomic_store(&buffer->offset, 0);
    return error;
}

/* The storage that has the buffer's chunk in memory of many chunks; NULL when
 * the chunk has a mapping of its own.  (A process that goes on in another
 * storage has chunks of the earlier one.) */
static const struct jp_storage *owner_sig(const struct jp_buffer *buffer)
{
    const uint64_t offset = atomic_load(&buffer->offset);
    const struct jp_storage *storage = jp_log.storage;
    while (storage != NULL &&
           (storage->address_sig == NULL ||
            storage->address_sig(offset, buffer->size) != buffer->chunk))
        storage = storage->fallback;
    return storage;
}

void jp_storage_give_sig(struct jp_buffer *buffer)
{
    if (buffer->chunk != NULL) {
        const struct jp_storage *owner = owner_sig(buffer);
        if (owner == NULL)
            jp_sys_unmap_sig(buffer->chunk, buffer->size);
        else if (owner->give_sig != NULL)
            owner->give_sig(atomic_load(&buffer->offset));
    }
    buffer->chunk = NULL;
    atomic_store(&buffer->offset, 0);
}

int jp_storage_evict_sig(uint64_t offset, const struct jp_buffer *taker)
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
            jp_storage_give_sig(buffer);
        atomic_store(&buffer->lock, 0);
    }
    return 1;
}
