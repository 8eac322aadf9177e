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
#include "base/index.h"
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

/* What follows is for the readers in this room. */

/* Fills in what foreign->data has.  Returns 0, or -1 after it has said why
 * nothing could be read. */
typedef int jr_foreign_read_fn(struct jr_foreign *foreign, const char *path,
                               struct jr_diag *diag);

jr_foreign_read_fn jr_foreign_pprof, jr_foreign_collapsed,
    jr_foreign_perf_script, jr_foreign_cpuprofile;

#define JR_FOREIGN_PLACES ((size_t)1 << 23)  /* of a file */
#define JR_FOREIGN_SAMPLES ((size_t)1 << 25) /* likewise */

/* A kind of file.  Either `read` is set, or `advice` says how the user makes of
 * it a file that can be read. */
struct jr_foreign_kind {
    const char *name; /* "a pprof profile" */
    jr_foreign_read_fn *read;
    const char *advice;
};

/* kind.c: returns the kind of a file that begins with these bytes, which were
 * unpacked and decoded, or NULL.  `is_whole`: they are all of the file. */
const struct jr_foreign_kind *jr_foreign_kind_of(const uint8_t *data,
                                                 size_t size, int is_whole);

/* unpack.c: returns whether the bytes are compressed by gzip or Zstandard. */
int jr_foreign_is_gzip(const uint8_t *data, size_t size);
int jr_foreign_is_zstd(const uint8_t *data, size_t size);

/* Replaces compressed bytes, allocated by jr_alloc, by what they unpack to, at
 * most `most` bytes and at least one of room behind them.  Returns NULL, or a
 * static text that says what is wrong; what came before it is there. */
const char *jr_foreign_unpack(uint8_t **data, size_t *size, size_t most);

/* Makes text UTF-8 without a byte order mark: from UTF-16 with one, and with
 * line feeds where carriage returns alone end the lines.  Other bytes stay as
 * they are. */
void jr_foreign_decode(uint8_t **data, size_t *size);

/* lines.c: takes the next line, without its end, off *text.  Returns 0 when
 * there is none. */
int jr_foreign_line(struct jr_slice *text, struct jr_slice *line);

/* Returns the slice without blanks and tabs at its ends. */
struct jr_slice jr_foreign_trim(struct jr_slice slice);

/* Takes the last word, which blanks or tabs precede, off *line, and the blanks
 * too.  Returns 0 when the line has no two words; it then stays as it is. */
int jr_foreign_last_word(struct jr_slice *line, struct jr_slice *word);

int jr_foreign_begins(struct jr_slice slice, const char *start);
int jr_foreign_ends(struct jr_slice slice, const char *end);

/* count.c: a number in text: mantissa times ten to the power of `exponent`. */
struct jr_foreign_number {
    uint64_t mantissa;
    int exponent;
    uint8_t is_negative;
    uint8_t commas;     /* in it, at most 255 */
    uint8_t has_groups; /* and each has three digits behind it */
    uint8_t has_point;
};

/* How a file writes its commas. */
enum jr_foreign_commas {
    JR_COMMAS_DECIMAL, /* 10,5 is ten and a half */
    JR_COMMAS_GROUPS,  /* 10,500 is ten thousand and five hundred */
    JR_COMMAS_LIST     /* 10,5,7 has three values, the first is meant */
};

/* Reads all of `word`.  Returns 0, or -1: it is no number. */
int jr_foreign_number(struct jr_slice word, enum jr_foreign_commas commas,
                      struct jr_foreign_number *number);

/* Returns the number times ten to the power of `decimals`, rounded, at least 1
 * unless it is zero, and at most UINT64_MAX; its sign is left out. */
uint64_t jr_foreign_scaled(const struct jr_foreign_number *number,
                           int decimals);

/* places.c: finds places by their frames.  All zero is empty. */
struct jr_foreign_known {
    struct jr_index by_hash;
};

/* Returns the place in `foreign` that has these frames, innermost first, at
 * `address`; it may be new.  count is 1 to JR_FOREIGN_LINES.  JR_NO_ITEM: there
 * are too many. */
uint32_t jr_foreign_place_of(struct jr_foreign *foreign,
                             struct jr_foreign_known *known,
                             const struct jr_foreign_frame *frames,
                             uint32_t count, uint64_t address);

/* Adds a place to the sample's stack, whose leaf came first.  Returns 0, or -1:
 * the stack is as deep as one may be. */
int jr_foreign_push(struct jr_foreign *foreign,
                    struct jr_foreign_sample *sample, uint32_t place);

/* Adds the sample, whose stack was pushed, and gives back the room of its stack
 * if it is no good or there are too many. */
void jr_foreign_add(struct jr_foreign *foreign,
                    const struct jr_foreign_sample *sample, int is_good);

/* Adds a remark, which it takes over, unless there are many. */
void jr_foreign_remark(struct jr_foreign *foreign, char *remark);

/* The head of a sample as perf script writes it. */
struct jr_perf_head {
    struct jr_slice comm, event, rest; /* rest: behind the event */
    uint32_t pid, tid;                 /* pid 0: not said */
    uint64_t time_ns, period;
    uint8_t has_time, has_period;
};

/* perf_script.c: returns whether the line is a sample's head; head may be NULL.
 */
int jr_foreign_is_perf_head(struct jr_slice line, struct jr_perf_head *head);
int jr_foreign_is_perf_frame(struct jr_slice line);

/* cpuprofile.c: returns whether the bytes begin as gperftools' CPU profiles. */
int jr_foreign_is_cpuprofile(const uint8_t *data, size_t size);

#endif
