/* SPDX-License-Identifier: MIT
 *
 * The table of the stacks in a buffer's chunk.  A stack that the chunk already
 * has costs a sample only a reference; of a new one, only the frames are stored
 * in which it differs from the last.
 * Runs in: handler, any thread. */
#ifndef JP_STACKS_H
#define JP_STACKS_H

#include <stdint.h>

struct jp_buffer;

/* Empties the table: the buffer has a new chunk. */
void jp_stacks_reset_sig(struct jp_buffer *buffer);

/* Whether the chunk has the stack that the buffer holds.  Sets *ref to the
 * offset of the stack's record in the chunk / 8; 0 for an empty stack. */
int jp_stacks_find_sig(const struct jp_buffer *buffer, uint16_t *ref);

/* How many root-most frames the buffer's stack shares with the stack that was
 * stored last; 0 when they are too few for a reference. */
uint32_t jp_stacks_shared_sig(const struct jp_buffer *buffer);

/* Enters the buffer's stack, whose record has reference `ref` and takes
 * `shared` frames from the one before it. */
void jp_stacks_add_sig(struct jp_buffer *buffer, uint16_t ref, uint32_t shared);

#endif
