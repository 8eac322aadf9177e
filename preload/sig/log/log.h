/* SPDX-License-Identifier: MIT
 *
 * Writing samples into the log, in the layout of include/jp_log.h.
 * Runs in: handler, any thread. */
#ifndef JP_LOG_WRITE_H
#define JP_LOG_WRITE_H

#include <stdint.h>

#include "chunk.h"
#include "sig/state/sample.h"

struct jp_buffer;

/* A moment that the program gives a name. */
struct jp_mark {
    uint64_t time_ns;
    const char *name;
    uint32_t length; /* of the name, 1 to JP_MARK_NAME_MAX */
    uint32_t tid;
    uint8_t kind; /* enum jp_mark_kind */
};

/* Writes a sample with the stack that the buffer holds (depth 0: none).
 * Returns 0, or -errno when there was no space: the sample is then counted as
 * lost, and the first such loss is said on stderr. */
int jp_log_write_sig(struct jp_buffer *buffer, const struct jp_sample *sample);

/* Writes a mark.  Returns 0, or -errno when there was no space: the mark is
 * then counted as lost, and the first loss is said on stderr. */
int jp_log_mark_sig(const struct jp_mark *mark);

/* After a SIGBUS at an address where the log is mapped, because somebody cut
 * the file short: maps memory of zeros there.  Returns 0 when the address is
 * not in the log, or there is no memory. */
int jp_log_patch_sig(uint64_t address);

#endif
