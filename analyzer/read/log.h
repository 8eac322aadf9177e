/* SPDX-License-Identifier: MIT
 *
 * The log reader: bytes of a jprof-log -> runs of checked samples and stacks.
 * The format is that of doc/FORMAT.md and include/jp_log.h.
 * Runs in: analyzer. */
#ifndef JR_LOG_H
#define JR_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "jp_log.h"

struct jr_sample {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t weight_ns;
    uint32_t tid;
    uint32_t stack; /* index into jr_run.stacks; 0 is the empty stack */
    uint8_t event;  /* enum jp_event, below JP_EVENT_COUNT */
    uint8_t reason; /* enum jp_reason, below JP_REASON_COUNT */
};

/* A distinct stack of a run: frames[0] is the interrupted pc, the others are
 * return addresses, root last. */
struct jr_stack {
    size_t first; /* index into jr_run.frames */
    uint32_t depth;
    uint32_t gap; /* frames are missing before this index; 0: none */
};

/* One process image's profile. */
struct jr_run {
    struct jp_log_header header; /* its strings are NUL-terminated */
    uint64_t offset;             /* of the header in the file */
    struct jr_sample *samples;   /* in order of time */
    size_t nsamples, samples_room;
    struct jr_stack *stacks; /* distinct; [0] has depth 0 */
    size_t nstacks, stacks_room;
    uint64_t *frames;
    size_t nframes, frames_room;
    uint64_t oldest_ns;        /* when its oldest chunk was opened */
    uint64_t lost;             /* sum of the JP_COUNT_LOST_* counts */
    size_t chunks, bad_chunks; /* read; damaged and skipped or cut */
    char *text;                /* lines of the map, each with a newline */
    size_t ntext, text_room;
    size_t base; /* index of the run that this one branched
                                     off from, whose map holds until
                                     header.forked_ns; itself: none */
};

struct jr_log {
    char *path;
    struct jr_run *runs;
    size_t nruns, runs_room;
};

/* Reads all of `path` into *log.  Damage is reported through jr_warn and
 * passed over.  Samples before header.cleared_ns are left out.  Returns 0, or
 * -1 when nothing could be read (no such file, no log, another byte order:
 * said with jr_warn).  The caller frees *log with jr_log_free in each case. */
int jr_log_read(const char *path, struct jr_log *log, struct jr_diag *diag);
void jr_log_free(struct jr_log *log);

/* The same for a log that is in memory; `path` names it in messages. */
int jr_log_parse(const uint8_t *data, size_t size, const char *path,
                 struct jr_log *log, struct jr_diag *diag);

#endif
