/* SPDX-License-Identifier: MIT
 *
 * The perf map reader: lines `START SIZE name` of /tmp/perf-PID.map -> code
 * ranges in the order of the file.
 * Runs in: analyzer. */
#ifndef JR_PERFMAP_H
#define JR_PERFMAP_H

#include <stddef.h>
#include <stdint.h>

#define JR_PERFMAP_NAME_MAX 4096 /* bytes of a name; more are cut */

struct jr_perfmap_line {
    uint64_t start, end; /* addresses, start < end */
    uint64_t covered_by; /* the file holds the line from this size on */
    const char *name;    /* no NUL follows; points into the file's bytes */
    uint32_t length;     /* of name, at least 1 */
    uint8_t interpreted; /* V8: bytecode in the heap or, where the address is
                             executable, a function's copy of the trampoline
                             into the interpreter */
};

struct jr_perfmap {
    struct jr_perfmap_line *lines; /* a later line is newer */
    size_t nlines, lines_room;
    size_t malformed;         /* lines of another form, which are left out */
    uint64_t first_malformed; /* where the first of them starts */
    uint8_t *data;            /* the file, when jr_perfmap_read did it */
};

/* Reads the file at `path`.  A last line without its newline is read if it has
 * a name, which may be cut off; otherwise, and where a range is empty, it is
 * left out silently: both are normal.  Returns 0, or -1 with *why set to
 * a text.  The caller frees *perfmap with jr_perfmap_free in each case. */
int jr_perfmap_read(const char *path, struct jr_perfmap *perfmap,
                    const char **why);

/* The same from memory, which must live as long as *perfmap. */
void jr_perfmap_parse(const uint8_t *data, size_t size,
                      struct jr_perfmap *perfmap);
void jr_perfmap_free(struct jr_perfmap *perfmap);

#endif
