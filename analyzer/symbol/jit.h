/* SPDX-License-Identifier: MIT
 *
 * JIT code in time: the lines of a process's perf maps, each with the time
 * from which it was there and at which later code took its place.
 * Runs in: analyzer. */
#ifndef JR_JIT_H
#define JR_JIT_H

#include "../base/diag.h"
#include "../read/map.h"
#include "../read/perfmap.h"
#include "ranges.h"

struct jr_jit_line {
    uint64_t start, end;       /* addresses */
    uint64_t from_ns;          /* when the file was first seen to hold it */
    uint64_t until_ns;         /* when newer code touched it */
    const char *name;          /* no NUL follows */
    uint32_t length;
    uint32_t group;            /* one content of one file */
    uint8_t bytecode;          /* not code: never preferred to code */
    uint8_t duplicate;         /* says what the live one says */
};

struct jr_jit {
    struct jr_perfmap *files;
    size_t nfiles, files_room;
    struct jr_jit_line *lines; /* older ones first */
    size_t nlines, lines_room;
    struct jr_ranges ranges;
};

/* Reads the perf maps that `map` names into the zeroed *jit: the copy in
 * `log_dir`, else the original.  One that is gone is reported.  The caller
 * frees *jit with jr_jit_free. */
void jr_jit_read(struct jr_jit *jit, const struct jr_map *map,
                 const char *log_dir, struct jr_diag *diag);
void jr_jit_free(struct jr_jit *jit);

/* Of the lines `found` at an address, that which was live at `time_ns`, else
 * the first later one (the file is looked at now and then, so its lines are
 * seen late), else one that was overwritten before it was seen, else one of
 * bytecode.  NULL: none. */
const struct jr_jit_line *jr_jit_pick(const struct jr_jit *jit,
                                      const struct jr_indices *found,
                                      uint64_t time_ns);

/* Appends the lines of one content, seen in `sightings` (of one inode, in
 * order of time), as group `group`; lines that the first sighting covers are
 * valid from `first_ns`.  Then call jr_jit_finish. */
void jr_jit_append(struct jr_jit *jit, const struct jr_perfmap *perfmap,
                   const struct jr_jit_file *const *sightings, size_t count,
                   uint64_t first_ns);
void jr_jit_finish(struct jr_jit *jit);

#endif
