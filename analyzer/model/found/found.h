/* SPDX-License-Identifier: MIT
 *
 * What one pass over a run's samples found out, so that a second pass finds the
 * same without resolving a stack again.
 * Runs in: analyzer. */
#ifndef JR_FOUND_H
#define JR_FOUND_H

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "read/log.h"

/* From time_ns on, a stack that has several nodes has this one. */
struct jr_found_change {
    uint64_t time_ns;
    uint32_t stack, node;
};

/* Of one run.  "Stack" is the number of an answer of the first pass: the run's
 * stack, with filter.split one for each event. */
struct jr_found {
    struct jr_log *log;              /* where the run's chunks are */
    uint32_t *nodes;                 /* by stack */
    struct jr_found_change *changes; /* sealed: by stack, then time */
    size_t nchanges, changes_room;
    struct jr_table tids;  /* by tid: the thread's number in the model */
    uint32_t first_thread; /* of the model's, which stand together */
    /* Where threads have samples that count: the thread in the upper half, and
     * in the lower one the number of a chunk of the run, or of a sample where
     * the run's samples are held.  In order once sealed, each once. */
    uint64_t *pieces;
    size_t npieces, pieces_room;
    uint32_t *last; /* by thread: its last piece, until it is sealed */
    size_t nlast, last_room;
    /* All samples that count, in order of time, where `holds`: the log has
     * none, or its process may overwrite them. */
    struct jr_sample *held;
    size_t nheld, held_room;
    uint8_t holds;
};

/* Never NULL; of so many stacks, for a run of a log that stays where it is.
 * holds: the samples cannot be read from the log once more. */
struct jr_found *jr_found_new(struct jr_log *log, size_t nstacks,
                              uint32_t first_thread, int holds);
void jr_found_free(struct jr_found *found);

/* Notes the node that a stack has from time_ns on, which comes in order of
 * time; `before` is the one that it had, JR_NO_ITEM: none yet. */
void jr_found_node(struct jr_found *found, size_t stack, uint64_t time_ns,
                   uint32_t before, uint32_t node);

/* Notes a sample that counts, of a thread by its number in the model; `chunk`
 * is the number of its chunk in the run. */
void jr_found_sample(struct jr_found *found, uint32_t thread, uint32_t chunk,
                     const struct jr_sample *sample);

/* Ends the notes; before what follows. */
void jr_found_seal(struct jr_found *found);

/* The node of a stack at a time: as it was noted. */
uint32_t jr_found_at(const struct jr_found *found, size_t stack,
                     uint64_t time_ns);

/* The index of the first piece of this thread, or of a later one. */
size_t jr_found_pieces(const struct jr_found *found, uint32_t thread);

#endif
