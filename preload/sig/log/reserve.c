/* SPDX-License-Identifier: MIT
 *
 * The reserve of the log: with JP_CIRCULAR the ring, else the area that forked
 * children share (share.c).
 * Runs in: handler, any thread. */
#include "reserve.h"

#include <stdatomic.h>
#include <stddef.h>

#include "chunk.h"
#include "share.h"
#include "sig/os/sys.h"
#include "sig/state/config.h"
#include "storage.h"

#define RING_LARGEST (64U << 20)

static uint8_t *_Atomic memory;
static uint64_t start; /* in the file */
static uint32_t size;

static void map_ring_sig(int fd)
{
    const uint64_t bytes =
        (uint64_t)jp_log_ring_count_sig() * jp_log_ring_chunk_sig();
    const uint64_t ring = atomic_load(&jp_log.ring) >> JP_LOG_TURN_BITS;
    if (bytes > RING_LARGEST)
        return;
    size = (uint32_t)bytes;
    start = jp_log.ring_start + ring * bytes;
    if (jp_sys_allocate_sig(fd, start, size) == 0)
        atomic_store(&memory, jp_sys_map_file_sig(fd, start, size));
}

void jp_reserve_make_sig(void)
{
    if (atomic_load(&memory) != NULL || jp_share_is_there_sig() ||
        jp_log.direct || atomic_load(&jp_log.state) != JP_LOG_READY)
        return;
    int fd = jp_log_open_sig();
    if (fd < 0)
        return;
    if (jp_config.ring_bytes != 0)
        map_ring_sig(fd);
    else
        jp_share_make_sig(fd, JP_SHARE_BYTES);
    jp_sys_close_sig(fd);
}

uint8_t *jp_reserve_at_sig(uint64_t offset, uint32_t bytes)
{
    uint8_t *at = atomic_load(&memory);
    if (at == NULL || offset < start || offset + bytes > start + size)
        return NULL;
    return at + (offset - start);
}

int jp_reserve_has_sig(uint64_t address)
{
    const uint8_t *at = atomic_load(&memory);
    return at != NULL && address - (uint64_t)at < size;
}

void jp_reserve_end_sig(void)
{
    const struct jp_storage *storage = jp_log.storage;
    if (storage != NULL && storage->end_sig != NULL)
        storage->end_sig();
}

void jp_reserve_reset_sig(void)
{
    atomic_store(&memory, NULL);
}
