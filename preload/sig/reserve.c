/* SPDX-License-Identifier: MIT
 *
 * The reserve of the log.
 * Runs in: handler, any thread. */
#include "reserve.h"

#include <stdatomic.h>
#include <stddef.h>

#include "config.h"
#include "log.h"
#include "sys.h"

#define LARGEST (4U << 20)
#define SMALLEST (64U << 10)
#define RING_LARGEST (64U << 20)
#define PIECE 16384U

static uint8_t *_Atomic memory;
static uint64_t start;         /* in the file */
static uint32_t size;
static uint32_t piece;         /* 0 for a ring, which has its own order */
static _Atomic uint64_t taken;

static uint8_t *map_sig(int fd, uint64_t offset, uint32_t bytes)
{
    if (jp_sys_allocate_sig(fd, offset, bytes) != 0)
        return NULL;
    return jp_sys_map_file_sig(fd, offset, bytes);
}

static uint8_t *map_ring_sig(int fd)
{
    const uint64_t bytes =
        (uint64_t)jp_log_ring_count_sig() * jp_log_ring_chunk_sig();
    const uint64_t ring = atomic_load(&jp_log.ring) >> JP_LOG_TURN_BITS;
    if (bytes > RING_LARGEST)
        return NULL;
    piece = 0;
    size = (uint32_t)bytes;
    start = jp_log.ring_start + ring * bytes;
    return map_sig(fd, start, size);
}

static uint8_t *map_pieces_sig(int fd)
{
    const uint32_t stack = jp_config.depth * 8 + 256;
    uint8_t *found = NULL;
    piece = PIECE;
    while (piece < stack && piece < JP_CHUNK_MAX)
        piece *= 2;
    for (size = LARGEST; size >= SMALLEST; size /= 2) {
        start = atomic_fetch_add(&jp_log.next, size);
        found = map_sig(fd, start, size);
        if (found != NULL)
            break;
        /* Given back, unless another has taken what is behind it. */
        uint64_t end = start + size;
        atomic_compare_exchange_strong(&jp_log.next, &end, start);
    }
    return found;
}

void jp_reserve_make_sig(void)
{
    if (atomic_load(&memory) != NULL || jp_log.direct ||
        atomic_load(&jp_log.state) != JP_LOG_READY)
        return;
    int fd = jp_log_open_sig();
    if (fd < 0)
        return;
    atomic_store(&taken, 0);
    uint8_t *found = jp_config.ring_bytes != 0 ? map_ring_sig(fd)
                                               : map_pieces_sig(fd);
    jp_sys_close_sig(fd);
    atomic_store(&memory, found);
}

uint8_t *jp_reserve_at_sig(uint64_t offset, uint32_t bytes)
{
    uint8_t *at = atomic_load(&memory);
    if (at == NULL || offset < start || offset + bytes > start + size)
        return NULL;
    return at + (offset - start);
}

uint32_t jp_reserve_piece_sig(void)
{
    return atomic_load(&memory) != NULL ? piece : 0;
}

uint32_t jp_reserve_count_sig(void)
{
    return piece != 0 ? size / piece : 0;
}

uint64_t jp_reserve_next_sig(uint64_t *turn)
{
    const uint32_t count = jp_reserve_count_sig();
    *turn = atomic_fetch_add(&taken, 1);
    return start + (count != 0 ? *turn % count : 0) * piece;
}

void jp_reserve_reset_sig(void)
{
    atomic_store(&memory, NULL);
}
