/* SPDX-License-Identifier: MIT
 *
 * One process image's profile, as the log says it: what log.c and foreign/ fill
 * and everything above reads.
 * Runs in: analyzer. */
#ifndef JR_RUN_H
#define JR_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "jp_log.h"
#include "stacks.h"
#include "sums.h"

struct jr_sample {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t weight_ns;
    uint32_t tid;
    uint32_t stack; /* index into jr_run.stacks.items; 0: the empty stack */
    uint8_t event;  /* enum jp_event, below JP_EVENT_COUNT */
    uint8_t reason; /* enum jp_reason, below JP_REASON_COUNT */
};

/* A kind of mark that is in no log: a span with both ends (markers.h). */
#define JR_MARK_MEASURE JP_MARK_KIND_COUNT

/* A moment that the program named. */
struct jr_mark {
    uint64_t time_ns;
    uint64_t until_ns; /* of JR_MARK_MEASURE alone */
    uint32_t tid;
    uint8_t kind;   /* enum jp_mark_kind, or JR_MARK_MEASURE */
    uint8_t length; /* of the name, at least 1 */
    size_t name;    /* where it is in jr_run.mark_names: bytes as they came */
};

/* Where a chunk of samples is. */
struct jr_chunk {
    uint64_t offset, seq;
    uint64_t first_ns, last_ns; /* of its samples */
    size_t records;             /* its first one in jr_run.records, */
    uint32_t nrecords;          /* and how many */
    uint32_t end;               /* bytes of header and records */
    uint32_t nsamples;          /* at least 1 */
    uint32_t tid;               /* of the first; others may share the chunk */
};

/* One process image's profile.  Its samples stay in the log: walk.h. */
struct jr_run {
    struct jp_log_header header; /* its strings are NUL-terminated */
    uint64_t offset;             /* of the header in the file */
    uint64_t nsamples;
    uint32_t events;            /* which events its samples have: bits 1 <<
                                   enum jp_event */
    uint64_t first_ns, last_ns; /* of all samples; 0 without any */
    uint64_t cpu_ns;            /* CPU time that samples stand for, */
    uint64_t late_ns;           /* how much of cpu_ns came after
                                   header.cpu_read_ns */
    struct jr_stacks stacks;
    struct jr_sums sums;     /* of the samples in chunks, by stack; empty where
                                they would be too many */
    struct jr_chunk *chunks; /* the chunks that hold samples, in the order of
                                the file */
    size_t nchunks, chunks_room;
    uint32_t *records; /* what the STACK records of chunks are: indices of
                          stacks, or JR_STACK_NONE */
    size_t nrecords, records_room;
    uint64_t oldest_ns;             /* when its oldest chunk was opened */
    uint64_t lost;                  /* sum of the JP_COUNT_LOST_* counts */
    size_t seen_chunks, bad_chunks; /* read; damaged and skipped or cut */
    uint64_t bad_records;           /* records that were left out or end
                                       their chunk */
    char *text;                     /* lines of the map, each with a newline */
    size_t ntext, text_room;
    uint8_t is_unrepeatable; /* its samples cannot be read a second time */
    struct jr_sample *given; /* of a foreign profile: all its samples, in
                                order of time; else NULL */
    struct jr_mark *marks;   /* in the order of the file */
    size_t nmarks, marks_room;
    char *mark_names;
    size_t nmark_names, mark_names_room;
    size_t base; /* index of the run that this one branched
                                     off from, whose map holds until
                                     header.forked_ns; itself: none */
};

#endif
