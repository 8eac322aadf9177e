/* SPDX-License-Identifier: MIT
 *
 * Samples of a thread whose stack is that of an earlier one of its own in the
 * chunk: such a sample says which, and takes two thirds of the room.  In real
 * time without a ring, where most samples are of threads that wait on: a ring
 * of many threads' chunks has hardly two samples of a thread in one.
 * Runs in: handler, any thread. */
#ifndef JP_AGAIN_H
#define JP_AGAIN_H

#include <stdint.h>

#include "jp_log.h"

struct jp_buffer;
struct jp_sample;

/* Whether the log has such samples. */
int jp_again_wanted_sig(void);

/* Forgets all samples: the buffer has a new chunk. */
void jp_again_reset_sig(struct jp_buffer *buffer);

/* Remembers the SAMPLE record of a thread at offset `at` * 8 in the chunk,
 * whose stack's record has reference `ref`. */
void jp_again_add_sig(struct jp_buffer *buffer, uint32_t tid, uint16_t ref,
                      uint16_t at);

/* Fills all of the record but its head for a sample whose stack's record has
 * reference `ref`.  Returns 0 when there is no such earlier sample, or the
 * record has no room for the sample's time or weight. */
int jp_again_fill_sig(const struct jp_buffer *buffer,
                      const struct jp_sample *sample, uint16_t ref,
                      struct jp_again_record *record);

#endif
