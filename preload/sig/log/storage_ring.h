/* SPDX-License-Identifier: MIT
 *
 * The storage of a ring (JP_CIRCULAR): places for chunks, one after another,
 * and then the first one again.
 * Runs in: handler, any thread. */
#ifndef JP_STORAGE_RING_H
#define JP_STORAGE_RING_H

#include <stdint.h>

struct jp_storage;

/* Chunks are mappings of the file; or, for a file system without fallocate,
 * memory that is written to the file by pwrite. */
extern const struct jp_storage jp_storage_ring;
extern const struct jp_storage jp_storage_written_ring;

/* The number of the current ring; 0 where there is no ring. */
uint32_t jp_storage_ring_now_sig(void);

/* With JP_CIRCULAR: leaves the current ring as it is and starts a new one
 * behind it. */
void jp_log_ring_rotate_sig(void);

#endif
