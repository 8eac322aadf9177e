/* SPDX-License-Identifier: MIT
 *
 * Storage for chunks: a run of the log has one kind of it (jp_log.storage), a
 * row of functions that take space for a chunk and give it back.  log.c makes
 * chunks in it and does not know which kind it is.
 * Runs in: handler, any thread. */
#ifndef JP_STORAGE_H
#define JP_STORAGE_H

#include <stdint.h>

#include "chunk.h"

struct jp_buffer;

struct jp_storage {
    /* Takes space for a chunk whose header and records need `bytes` bytes, all
     * zeros: sets the buffer's chunk, offset and size.  Returns 0 or -errno;
     * the buffer's offset may be set then, and its chunk is NULL. */
    int (*take_sig)(struct jp_buffer *buffer, uint32_t bytes);
    /* Gives back the space at this offset of the log, which address_sig finds.
     * NULL: the space stays with this process. */
    void (*give_sig)(uint64_t offset);
    /* The address of [offset, offset + size) of the log in memory that many
     * chunks have in common; NULL when it is not inside such memory.  NULL:
     * each chunk has a mapping of its own. */
    uint8_t *(*address_sig)(uint64_t offset, uint32_t size);
    /* Writes bytes of the buffer's chunk, from `at` on, to the file.  Returns 0
     * or -errno.  NULL: the chunk is a mapping of the file. */
    int (*write_sig)(const struct jp_buffer *buffer, uint32_t at,
                     uint32_t size);
    /* Called when the process ends: gives unused space back to the file
     * system.  NULL: there is none that was reserved in advance. */
    void (*end_sig)(void);
    /* The storage that takes the place of this one when this one has no space;
     * NULL: there is no other. */
    const struct jp_storage *fallback;
};

/* Takes space for a chunk for a buffer that has no chunk: see take_sig. */
int jp_storage_take_sig(struct jp_buffer *buffer, uint32_t bytes);

/* Gives the buffer's chunk back, if it has one. */
void jp_storage_give_sig(struct jp_buffer *buffer);

/* Takes the chunk at `offset` away from other buffers than the taker.  Returns
 * 0 when a sample is just being written into it. */
int jp_storage_evict_sig(uint64_t offset, const struct jp_buffer *taker);

/* Writes bytes of the buffer's chunk to the file, if the chunk is not a mapping
 * of the file.  Returns 0 or -errno. */
static inline int jp_storage_write_sig(const struct jp_buffer *buffer,
                                       uint32_t at, uint32_t size)
{
    const struct jp_storage *storage = jp_log.storage;
    return storage->write_sig == NULL ? 0
                                      : storage->write_sig(buffer, at, size);
}

#endif
