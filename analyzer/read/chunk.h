/* SPDX-License-Identifier: MIT
 *
 * Decodes the records of one chunk of a log: once to check it and to gather its
 * stacks, and again whenever its samples are asked for.
 * Runs in: analyzer. */
#ifndef JR_CHUNK_H
#define JR_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "run.h"

#define JR_CHUNK_PLACES (JP_CHUNK_MAX / 8) /* where a record may start */

/* Memory that the chunks of a log use one after the other. */
struct jr_chunk_reader {
    const char *path;
    struct jr_diag *diag;
    uint32_t *stacks;  /* by place of a record: the run's stack, or
                         JR_STACK_NONE */
    uint64_t *frames;  /* room for those of one record */
    uint64_t *hashes;  /* by place of a frame: the hash of its stack from the
                         root to it, */
    uint64_t *whole;   /* and by number of a STACK record that of all of it, */
    uint32_t *guesses; /* and which of the run's stacks it will be, mostly */
};

void jr_chunk_reader_begin(struct jr_chunk_reader *reader, const char *path,
                           struct jr_diag *diag);
void jr_chunk_reader_end(struct jr_chunk_reader *reader);

/* Reads the chunk of which `size` bytes are at `data`, with its (checked)
 * header, `offset` being its place in the file: adds it, its stacks and the
 * sums of its samples to the run.  Damage is counted in the run and reported
 * once a chunk. */
void jr_chunk_read(struct jr_chunk_reader *reader, struct jr_run *run,
                   const uint8_t *data, size_t size, uint64_t offset);

/* Decodes again the samples of a chunk that jr_chunk_read has read, into room
 * for chunk->nsamples; `stacks` is scratch of JR_CHUNK_PLACES.  Returns how
 * many there are: fewer, or 0, when the writer has changed the chunk since. */
size_t jr_chunk_samples(const struct jr_run *run, const struct jr_chunk *chunk,
                        const uint8_t *data, uint32_t *stacks,
                        struct jr_sample *into);

#endif
