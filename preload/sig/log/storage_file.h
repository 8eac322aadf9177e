/* SPDX-License-Identifier: MIT
 *
 * The storage at the end of the log: each chunk is behind the one before it,
 * and has a mapping of its own.
 * Runs in: handler, any thread. */
#ifndef JP_STORAGE_FILE_H
#define JP_STORAGE_FILE_H

#include <stdint.h>

struct jp_buffer;
struct jp_storage;

/* Chunks are mappings of the file. */
extern const struct jp_storage jp_storage_file;

/* For a file system without fallocate: chunks are memory, and are written to
 * the file by pwrite. */
extern const struct jp_storage jp_storage_written;

/* Gives the buffer a mapping of its own for the chunk of buffer->size bytes at
 * buffer->offset: of the file, or of memory that jp_storage_pwrite_sig writes
 * to the file.  Returns 0 or -errno. */
int jp_storage_map_sig(struct jp_buffer *buffer);
int jp_storage_memory_sig(struct jp_buffer *buffer);

/* struct jp_storage.write_sig for chunks that are memory. */
int jp_storage_pwrite_sig(const struct jp_buffer *buffer, uint32_t at,
                          uint32_t size);

#endif
