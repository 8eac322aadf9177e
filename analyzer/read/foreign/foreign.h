/* SPDX-License-Identifier: MIT
 *
 * A profile of another tool, or an export of jprof's: pprof (google/pprof,
 * proto/profile.proto), collapsed stacks, text of perf script, and gperftools'
 * CPU profiles, compressed by gzip or Zstandard or not.  The result is checked
 * and bounded, and needs no other file.
 * Runs in: analyzer. */
#ifndef JR_FOREIGN_H
#define JR_FOREIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/slice.h"

#define JR_FOREIGN_DEPTH 4096 /* frames of a stack; outer ones are left out */
#define JR_FOREIGN_LINES 256  /* functions at one place */

/* A function at a place. */
struct jr_foreign_frame {
    struct jr_slice name, raw, file, module;
    const char *tier; /* of JIT code, static; NULL: not said */
    uint32_t line;
    uint8_t is_jit, is_unnamed;
};

/* A place: its functions, innermost first, each but the last inlined into the
 * next. */
struct jr_foreign_place {
    uint32_t first, count; /* of the frames; at least 1 */
    uint64_t address;
};

struct jr_foreign_sample {
    size_t first; /* of its places, the leaf first */
    uint32_t count;
    uint32_t process;   /* into processes */
    uint32_t tid;       /* 1 and so on where the file has only names */
    uint8_t event;      /* enum jp_event */
    uint64_t weight_ns; /* or `unit_ns` for each of what it counts */
    uint64_t before_ns; /* with has_two: the weight in the profile before */
    uint64_t time_ns;   /* with has_times: since any moment */
};

/* A part of a file that was mapped: its places get their names from the file.
 */
struct jr_foreign_mapping {
    uint64_t start, end, offset;
    struct jr_slice path;
};

struct jr_foreign_process {
    uint32_t pid; /* 0: not known */
    struct jr_slice name;
};

struct jr_foreign_thread {
    uint32_t process, tid;
    struct jr_slice name;
};

struct jr_foreign {
    uint8_t *data; /* the bytes that slices point into */
    size_t size;
    const char *kind; /* "a pprof profile", static */
    struct jr_foreign_frame *frames;
    size_t nframes, frames_room;
    struct jr_foreign_place *places;
    size_t nplaces, places_room;
    uint32_t *stacks; /* places of samples */
    size_t nstacks, stacks_room;
    struct jr_foreign_sample *samples;
    size_t nsamples, samples_room;
    struct jr_foreign_process *processes;
    size_t nprocesses, processes_room;
    struct jr_foreign_thread *threads;
    size_t nthreads, threads_room;
    struct jr_foreign_mapping *mappings; /* if places have no names but
                                            addresses in these */
    size_t nmappings, mappings_room;
    struct jr_slice *comments; /* the writer's comments */
    size_t ncomments, comments_room;
    char **remarks; /* for the reader of the report: how it was understood */
    size_t nremarks, remarks_room;
    struct jr_slice type, unit; /* of the weights; empty: not said */
    struct jr_slice program;
    uint64_t period_ns; /* what one stands for; 1 where it is no time */
    uint64_t real_ns, duration_ns; /* 0: not known */
    uint8_t is_time;               /* the weights are times */
    uint8_t has_lines, has_threads, has_times;
    uint8_t has_two; /* weights of two profiles, before and after */
    uint8_t is_full; /* it has more samples or places than can be read */
    size_t bad;      /* samples left out: negative, or of what is not there */
    size_t bad_line; /* the first line of those; 0: not known */
    size_t cut;      /* stacks that were deeper */
};

/* Returns whether the file's content is of a kind that is read, or that is
 * refused by its name. */
int jr_foreign_is(const char *path);

/* Reads all of it.  What is wrong in it is said by jr_warn and left out.
 * Returns 0, or -1 when nothing could be read (said).  The caller frees
 * *foreign with jr_foreign_free in each case. */
int jr_foreign_read(const char *path, struct jr_foreign *foreign,
                    struct jr_diag *diag);

/* The same for bytes in memory, which are copied. */
int jr_foreign_parse(const uint8_t *data, size_t size, const char *path,
                     struct jr_foreign *foreign, struct jr_diag *diag);
void jr_foreign_free(struct jr_foreign *foreign);

#endif
