/* SPDX-License-Identifier: MIT
 *
 * The stack table of a chunk: finds a stack that the chunk already has, so
 * that a repeated one costs a reference, and what a new one shares with the
 * last, so that it costs only the frames that differ.
 * Runs in: handler, any thread. */
#ifndef JP_STACKS_H
#define JP_STACKS_H

#include <stdint.h>

struct jp_buffer;

/* Empties the table, for a new chunk. */
void jp_stacks_reset_sig(struct jp_buffer *buffer);

/* Whether the chunk has the stack that the buffer holds; sets *ref to its
 * record's offset / 8.  An empty stack has reference 0. */
int jp_stacks_find_sig(const struct jp_buffer *buffer, uint16_t *ref);

/* How many root-most frames the buffer's stack shares with the last new one. */
uint32_t jp_stacks_shared_sig(const struct jp_buffer *buffer);

/* Enters the buffer's stack, whose record is at ref and takes `shared` frames
 * from the one before. */
void jp_stacks_add_sig(struct jp_buffer *buffer, uint16_t ref, uint32_t shared);

#endif
