/* SPDX-License-Identifier: MIT
 *
 * JIT code in time: what the perf maps and jitdumps of a process say was at an
 * address, from which time to which.
 * Runs in: analyzer. */
#ifndef JR_JIT_H
#define JR_JIT_H

#include "base/diag.h"
#include "base/source.h"
#include "jit_code.h"
#include "read/jitdump.h"
#include "read/map.h"
#include "read/perfmap.h"
#include "symbol/names/strings.h"

/* Whose word counts more.  A piece ends older ones of its own layer and of
 * those behind it. */
enum jr_jit_layer {
    JR_LAYER_EXACT,    /* a jitdump, whose records have times */
    JR_LAYER_SIGHTED,  /* known since the file was first seen to have it: a
                          perf map, or a jitdump with times of another clock */
    JR_LAYER_BYTECODE, /* a line of V8's for bytecode outside of executable
                          memory: data */
    JR_LAYERS
};

enum jr_jit_event { JR_JIT_CODE, JR_JIT_MOVED, JR_JIT_CLOSED };

/* Code at one place.  There may be millions: names and lines stay in the
 * file. */
struct jr_jit_piece {
    uint64_t start;       /* address */
    uint64_t from_ns;     /* live from then, */
    uint64_t until_ns;    /* to then; before the replay of a move: the
                                address that the code is moved from */
    uint64_t offset : 48; /* of the LOAD record; number of the line */
    uint64_t file : 16;   /* index into the files */
    uint32_t size;        /* bytes of code; a perf map's may be cut */
    uint32_t back : 24;   /* the line table is so far before the LOAD; 0:
                                there is none */
    uint32_t layer : 2;   /* enum jr_jit_layer */
    uint32_t event : 2;   /* enum jr_jit_event */
    uint32_t always : 1;  /* nothing says since when: live from the
                                beginning, whatever from_ns is */
    uint32_t foreign : 1; /* written by another process */
    uint32_t void_ : 1;   /* says nothing (any more) */
};

/* What is known from one sighting on came at this time or later. */
struct jr_jit_window {
    uint64_t since_ns, from_ns;
};

/* One content of one file. */
struct jr_jit_origin {
    uint8_t is_dump;
    struct jr_perfmap map; /* one of these two */
    struct jr_jitdump dump;
    struct jr_source source;       /* of the dump */
    uint64_t bias;                 /* in the addresses of its lines */
    struct jr_jit_window *windows; /* of the sightings that tell, by time */
    size_t nwindows, windows_room;
    uint64_t last_ns; /* of the dump's last record with a time of
                                   ours; 0: none */
    uint8_t cut;      /* the dump's end is missing */
    size_t alive;     /* pieces, during the replay */
    const char *path; /* for messages; belongs to the map */
};

struct jr_jit_texts; /* names and lines read so far */

struct jr_jit {
    struct jr_jit_origin **files;
    size_t nfiles, files_room;
    struct jr_jit_piece *pieces; /* by rising start, once finished */
    size_t npieces, pieces_room;
    uint64_t *starts; /* of each block of pieces the first start */
    uint64_t *ends;   /* highest end below each node of a tree
                                    whose leaves are blocks of pieces */
    size_t leaves;    /* its width, a power of two */
    struct jr_jit_texts *texts;
    size_t garbage; /* line tables that were not what they
                                    should be, of those looked at */
    size_t unread;  /* files that the map names, but that cannot be read */
    const struct jr_map *map;
    const char *log_dir;
};

/* When an answer holds. */
struct jr_jit_span {
    uint64_t from_ns, until_ns;
};

/* jit_files.c: reads the perf maps and jitdumps that `map` names into the
 * zeroed *jit: the copy in `log_dir`, else the original.  What is gone is
 * reported.  Both must outlive *jit, which the caller frees. */
void jr_jit_read(struct jr_jit *jit, const struct jr_map *map,
                 const char *log_dir, struct jr_diag *diag);
void jr_jit_free(struct jr_jit *jit);

/* jit_read.c: take the lines or records of one content, which was seen in
 * `sightings` (of one inode, in order of time).  `origin` (allocated) goes to
 * *jit; its map is read, or its dump begun.  What a sighting covers first is
 * valid from that time on.  Then call jr_jit_finish. */
struct jr_jit_sightings {
    const struct jr_jit_file *const *items;
    size_t count;
    uint64_t replaced_ns; /* when another file took the path */
    uint64_t inherited;   /* bytes of a process that this one was forked
                                   from; 0: it is the process's own */
};
void jr_jit_append_map(struct jr_jit *jit, struct jr_jit_origin *origin,
                       const struct jr_jit_sightings *sightings);
void jr_jit_append_dump(struct jr_jit *jit, struct jr_jit_origin *origin,
                        const struct jr_jit_sightings *sightings);
void jr_jit_finish(struct jr_jit *jit);

/* jit_replay.c: puts the pieces into order of time and says of each when newer
 * code took its place. */
void jr_jit_replay(struct jr_jit *jit);

/* jit_sort.c: sorts by start, then by from_ns; takes no memory. */
void jr_jit_sort(struct jr_jit_piece *pieces, size_t count);

/* jit_find.c: makes the index over starts; for jr_jit_finish. */
void jr_jit_index(struct jr_jit *jit);

/* The piece that holds `address` at `time_ns`: a live one, the newest of the
 * first layer that has one, else the first later one, for which *late is set.
 * NULL: none.  *span is narrowed to the times for which the answer holds. */
const struct jr_jit_piece *jr_jit_find(const struct jr_jit *jit,
                                       uint64_t address, uint64_t time_ns,
                                       struct jr_jit_span *span, int *late);

/* The piece of a perf map that is live there and came after the last record of
 * the dump that `piece` is of, whose end is missing: a killed process's last
 * code.  NULL: none, or it is the same code. */
const struct jr_jit_piece *jr_jit_newer(struct jr_jit *jit,
                                        struct jr_strings *strings,
                                        const struct jr_jit_piece *piece,
                                        uint64_t address, uint64_t time_ns,
                                        struct jr_jit_span *span);

/* From which time on the piece may have been there: where it is known from a
 * sighting on, the look before that. */
uint64_t jr_jit_since(const struct jr_jit *jit,
                      const struct jr_jit_piece *piece);

static inline uint64_t jr_jit_end(const struct jr_jit_piece *piece)
{
    return piece->start + piece->size;
}

/* jit_text.c: the name and, for a jitdump with a table, the lines of a piece;
 * read once.  NULL when the file can no longer be read. */
struct jr_jit_text {
    const struct jr_jit_piece *piece;
    const char *name; /* from the strings */
    uint32_t length, nlines;
    uint64_t code_offset; /* in the dump */
    struct jr_jit_source_line *lines;
    const struct jr_frame *frame; /* without a line; NULL: not yet made */
};
struct jr_jit_text *jr_jit_text(struct jr_jit *jit, struct jr_strings *strings,
                                const struct jr_jit_piece *piece);
void jr_jit_texts_free(struct jr_jit_texts *texts);

/* The line at `address`, or NULL. */
const struct jr_jit_source_line *jr_jit_line(const struct jr_jit_text *text,
                                             uint64_t address);

/* What copies of memory say of a piece that a jitdump describes. */
enum jr_jit_memory {
    JR_MEMORY_SAME,  /* nothing against it */
    JR_MEMORY_OTHER, /* other code was there: a runtime may leave records out */
    JR_MEMORY_WIPED, /* its code was freed, and filled, before */
    JR_MEMORIES
};

/* jit_bytes.c: what the copies that the map names say of `address` at a time.
 * Copies from `gone_ns` on are of another mapping and say nothing.  *span is
 * narrowed. */
enum jr_jit_memory jr_jit_memory(const struct jr_jit *jit,
                                 const struct jr_jit_text *text,
                                 uint64_t address, uint64_t time_ns,
                                 uint64_t gone_ns, struct jr_jit_span *span);

/* Does a perf map have the same code, under the same name, at `address`, then
 * or later?  *span is narrowed. */
int jr_jit_agrees(struct jr_jit *jit, struct jr_strings *strings,
                  const struct jr_jit_piece *piece, uint64_t address,
                  uint64_t time_ns, struct jr_jit_span *span);

/* Reads the first `room` bytes of a piece at most; as jr_jit_code_bytes. */
size_t jr_jit_bytes(const struct jr_jit *jit, const struct jr_jit_text *text,
                    uint8_t *into, size_t room);

#endif
