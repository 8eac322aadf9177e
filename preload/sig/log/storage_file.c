/* SPDX-License-Identifier: MIT
 *
 * The storage at the end of the log.
 * Runs in: handler, any thread. */
#include "storage_file.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

#include "chunk.h"
#include "ring.h"
#include "sig/os/sys.h"
#include "sig/state/buffer.h"
#include "sig/state/thread.h"
#include "storage.h"
#include "storage_area.h"

/* A chunk that threads share is this part of the log so far at most, or has so
 * many bytes for each thread. */
#define CHUNKS_LEAST 16U
#define THREAD_BYTES 128ULL

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
    while (size < bytes && size < JP_CHUNK_MAX)
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

int jp_storage_map_sig(struct jp_buffer *buffer)
{
    const uint64_t offset = atomic_load(&buffer->offset);
    const int fd = open_patiently_sig();
    if (fd < 0)
        return fd;
    int error = jp_sys_allocate_sig(fd, offset, buffer->size);
    if (error == 0) {
        jp_log_grow_sig(offset + buffer->size);
        buffer->chunk = jp_sys_map_file_sig(fd, offset, buffer->size);
        error = buffer->chunk != NULL ? 0 : -ENOMEM;
    }
    jp_sys_close_sig(fd);
    return error;
}

int jp_storage_memory_sig(struct jp_buffer *buffer)
{
    const int fd = open_patiently_sig(); /* whether it is the log still */
    if (fd < 0)
        return fd;
    buffer->chunk = jp_sys_memory_sig(buffer->size, JP_FORK_DROP);
    jp_sys_close_sig(fd);
    return buffer->chunk != NULL ? 0 : -ENOMEM;
}

int jp_storage_pwrite_sig(const struct jp_buffer *buffer, uint32_t at,
                          uint32_t size)
{
    const uint64_t offset = atomic_load(&buffer->offset) + at;
    const int fd = jp_log_open_sig();
    if (fd < 0)
        return fd;
    long done = -EFBIG;
    if (offset + size <= jp_sys_file_limit_sig())
        done = jp_sys_pwrite_sig(fd, buffer->chunk + at, size, offset);
    jp_sys_close_sig(fd);
    return done == (long)size ? 0 : done < 0 ? (int)done : -ENOSPC;
}

/* Takes the next bytes of the log for a chunk.  Returns 0 or -errno. */
static int append_sig(struct jp_buffer *buffer, uint32_t bytes)
{
    const uint32_t size = chunk_size_sig(buffer, bytes);
    if (bytes > size)
        return -EMSGSIZE;
    buffer->size = size;
    atomic_store(&buffer->offset, atomic_fetch_add(&jp_log.next, size));
    return 0;
}

static int take_mapped_sig(struct jp_buffer *buffer, uint32_t bytes)
{
    const int error = append_sig(buffer, bytes);
    return error != 0 ? error : jp_storage_map_sig(buffer);
}

static int take_memory_sig(struct jp_buffer *buffer, uint32_t bytes)
{
    const int error = append_sig(buffer, bytes);
    return error != 0 ? error : jp_storage_memory_sig(buffer);
}

/* (Where the file cannot be opened any more, after a seccomp filter, a chroot
 * or a setuid, the area that was mapped before takes its place.) */
const struct jp_storage jp_storage_file = {
    .take_sig = take_mapped_sig,
    .end_sig = jp_storage_area_end_sig,
    .fallback = &jp_storage_area,
};

const struct jp_storage jp_storage_written = {
    .take_sig = take_memory_sig,
    .write_sig = jp_storage_pwrite_sig,
};
