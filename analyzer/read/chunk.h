/* SPDX-License-Identifier: MIT
 *
 * Decodes the records of one chunk of a log into its run.
 * Runs in: analyzer. */
#ifndef JR_CHUNK_H
#define JR_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "log.h"
#include "stacks.h"

#define JR_CHUNK_PLACES (JP_CHUNK_MAX / 8) /* where a record may start */

/* What is kept from chunk to chunk of a log; `table` is that of the run whose
 * chunk is being read. */
struct jr_chunk_reader {
    const char *path;
    struct jr_diag *diag;
    struct jr_stack_table *table;
    uint32_t *stacks; /* by place: the run's stack, JR_STACK_NONE: none */
    uint64_t *whole;  /* room for one whole stack */
};

void jr_chunk_reader_begin(struct jr_chunk_reader *reader, const char *path,
                           struct jr_diag *diag);
void jr_chunk_reader_end(struct jr_chunk_reader *reader);

/* Reads the chunk of which `size` bytes are at `data`, with its (checked)
 * header, `offset` being its place in the file; reader->table is the run's.
 * Damage is counted in the run and reported once a chunk. */
void jr_chunk_read(struct jr_chunk_reader *reader, struct jr_run *run,
                   const uint8_t *data, size_t size, uint64_t offset);

#endif
