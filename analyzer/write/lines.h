/* SPDX-License-Identifier: MIT
 *
 * The source lines of a function with what was sampled at their code.
 * Runs in: analyzer. */
#ifndef JR_WRITE_LINES_H
#define JR_WRITE_LINES_H

#include "model/code.h"

/* A line of the function, or of one that was inlined into it. */
struct jr_source_line {
    const char *name; /* of that function; NULL: of JIT code */
    const char *file;
    uint32_t line;
    uint8_t inlined;
    uint64_t self_ns;  /* of code of the line itself, */
    uint64_t total_ns; /* and of what was inlined there */
};

struct jr_source_lines {
    struct jr_source_line *items; /* those of a function and a file stand
                                     together, the function's own first, then
                                     the heaviest; by rising line */
    size_t count, room;
    uint64_t unknown_ns; /* of code whose line is not known */
};

/* Called for each frame of a hit that has a line: `frame` 0 is the innermost.
 * Those of one line after the first are left out. */
typedef void jr_source_fn(void *data, const struct jr_frame *frame,
                          size_t number);

/* Goes through the lines of the first `depth` of these frames, innermost first;
 * returns how many there were. */
size_t jr_source_lines_of(const struct jr_frames *frames, size_t depth,
                          jr_source_fn *put, void *data);

/* Sums the lines up; the caller frees lines->items. */
void jr_source_lines_build(const struct jr_model *model,
                           const struct jr_code_view *view,
                           struct jr_source_lines *lines);

/* Whether two lines are of one function and file. */
int jr_source_lines_near(const struct jr_source_line *one,
                         const struct jr_source_line *other);

#endif
