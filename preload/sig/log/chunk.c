/* SPDX-License-Identifier: MIT
 *
 * The log as a file of chunks.
 * Runs in: handler, any thread. */
#include "chunk.h"

#include <errno.h>
#include <string.h>

#include "mine.h"
#include "sig/os/sys.h"
#include "sig/state/config.h"
#include "sig/state/process.h"

struct jp_log jp_log;

void jp_log_tell_cut_sig(void)
{
    uint32_t not = 0;
    atomic_compare_exchange_strong(&jp_log.cut, &not, 1);
}

int jp_log_open_sig(void)
{
    struct stat info;
    if (jp_log.shared)
        return -ENOENT; /* another process gives out its offsets */
    int fd = jp_sys_open_sig(jp_log.path, O_RDWR | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    const uint64_t least = atomic_load(&jp_log.grown);
    if (jp_sys_fstat_sig(fd, &info) == 0 && info.st_dev == jp_log.device &&
        info.st_ino == jp_log.inode &&
        jp_file_owner_is_same_sig(info.st_uid, jp_log.user)) {
        if ((uint64_t)info.st_size >= least)
            return fd;
        /* Writing would make it grow again, with a hole where samples were. */
        jp_log_tell_cut_sig();
    }
    jp_sys_close_sig(fd);
    return -ESTALE;
}

void jp_log_grow_sig(uint64_t end)
{
    uint64_t old = atomic_load(&jp_log.grown);
    while (old < end && !atomic_compare_exchange_weak(&jp_log.grown, &old, end))
        ;
}

void jp_log_sync_sig(void)
{
    if (!jp_log.direct)
        return;
    int fd = jp_log_open_sig();
    if (fd < 0)
        return;
    jp_sys_pwrite_sig(fd, jp_log.header, sizeof(*jp_log.header), jp_log.start);
    jp_sys_close_sig(fd);
}

uint32_t jp_log_ring_chunk_sig(void)
{
    uint32_t size = JP_CHUNK_MIN;
    while (size < JP_CHUNK_LARGEST && size * 16ULL <= jp_config.ring_bytes)
        size *= 2;
    return size;
}

uint32_t jp_log_ring_count_sig(void)
{
    uint64_t count = jp_config.ring_bytes / jp_log_ring_chunk_sig();
    return count < 2 ? 2 : (uint32_t)count;
}

void jp_log_fit_depth_sig(void)
{
    const uint32_t chunk =
        jp_config.ring_bytes != 0 ? jp_log_ring_chunk_sig() : JP_CHUNK_MAX;
    const uint32_t most = (chunk - JP_CHUNK_HEADER_SIZE -
                           (uint32_t)sizeof(struct jp_stack_record) -
                           (uint32_t)sizeof(struct jp_sample_record)) /
                          8U;
    if (jp_config.depth > most)
        jp_config.depth = most;
}

/* The place may hold an older chunk, whose records must be gone before the new
 * magic makes it a chunk again. */
void jp_log_clean_sig(uint8_t *chunk, uint32_t size)
{
    __atomic_store_n(&((struct jp_chunk_header *)chunk)->magic, 0,
                     __ATOMIC_RELEASE);
    memset(chunk, 0, size);
}

void jp_log_begin_chunk_sig(uint8_t *chunk, uint64_t offset, uint32_t size,
                            uint32_t tid)
{
    struct jp_chunk_header *header = (struct jp_chunk_header *)chunk;
    header->size = size;
    header->seq = atomic_fetch_add(&jp_log.seq, 1) + 1;
    header->offset = offset;
    header->opened_ns = jp_sys_clock_sig(CLOCK_MONOTONIC);
    header->pid = jp_log.pid;
    header->tid = tid;
    header->run = jp_log.start + 1;
    __atomic_store_n(&header->magic, JP_CHUNK_MAGIC, __ATOMIC_RELEASE);
}
