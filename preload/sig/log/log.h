/* SPDX-License-Identifier: MIT
 *
 * Writing samples into the log: chunks, stacks, records.  The layout is that
 * of include/jp_log.h.
 * Runs in: handler, any thread. */
#ifndef JP_LOG_WRITE_H
#define JP_LOG_WRITE_H

#include <stdint.h>

#include "chunk.h"
#include "sig/state/sample.h"

struct jp_buffer;

/* Writes one sample with the stack that the buffer holds (depth 0: none).
 * Returns 0, or -errno when there was no space: the sample is lost and
 * counted. */
int jp_log_write_sig(struct jp_buffer *buffer, const struct jp_sample *sample);

/* Leaves the ring as it is and starts a new one behind it. */
void jp_log_ring_rotate_sig(void);

/* If the log is mapped at the address: puts memory there that is nobody's, in
 * place of the file that was cut short.  Returns whether it is. */
int jp_log_patch_sig(uint64_t address);

#endif
