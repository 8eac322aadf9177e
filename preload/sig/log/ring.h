/* SPDX-License-Identifier: MIT
 *
 * Buffers that write samples of all threads, into chunks that the threads
 * share: for rings and for real time.
 * Runs in: handler, any thread. */
#ifndef JP_RING_H
#define JP_RING_H

#include <stdint.h>

struct jp_buffer;

/* Whether samples are written by such buffers.  With a chunk for each thread, a
 * ring would have no room for more than a sample or two of a thousand threads;
 * and in real-time mode, where many threads wait and have few samples, each
 * sample would touch memory that is in no cache. */
int jp_ring_wanted_sig(void);

/* Makes these buffers, or where samples have no use for them the first one, for
 * marks, before files and memory are out of reach. */
void jp_ring_ensure_sig(void);

/* Takes such a buffer, locked, with the stack that `buffer` holds.  The caller
 * writes the sample and sets the lock to 0.  NULL when none was free for a
 * while, or there is no memory. */
struct jp_buffer *jp_ring_enter_sig(const struct jp_buffer *buffer);

/* The same for a record of so many bytes without a stack, as a mark: the stack
 * that the buffer holds is another sample's. */
struct jp_buffer *jp_ring_take_sig(uint32_t bytes);

/* Forgets these buffers.  Called in a forked child, which has none. */
void jp_ring_reset_sig(void);

#endif
