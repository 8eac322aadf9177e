/* SPDX-License-Identifier: MIT
 *
 * Marks of the program: points and spans of time with names.
 * Runs in: analyzer. */
#ifndef JR_MARKS_H
#define JR_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "read/log.h"

/* What became of marks. */
enum jr_marked_kind {
    JR_MARKED_POINT, /* a mark; until_ns is time_ns */
    JR_MARKED_SPAN,  /* a span with begin and end */
    JR_MARKED_OPEN, /* a span without an end: until_ns is the run's last time */
    JR_MARKED_END   /* an end without a begin; as a point */
};

struct jr_marked {
    uint64_t time_ns, until_ns; /* CLOCK_MONOTONIC */
    uint32_t process;           /* as jr_marks_add was told */
    uint32_t tid;               /* of the thread that began it */
    uint32_t name;              /* of jr_marks.names */
    uint8_t kind;               /* enum jr_marked_kind */
};

/* All zero is empty. */
struct jr_marks {
    struct jr_marked *items; /* those of a process stand together, in order of
                                time_ns */
    size_t count, room;
    char **names; /* as they came; in the order in which they came */
    size_t nnames, names_room;
};

/* What of a run counts: marks that are in [from_ns, until_ns), in part at
 * least, of thread `tid` (0: of all); last_ns is where open spans end. */
struct jr_marks_of {
    uint32_t process, tid;
    uint64_t from_ns, until_ns, last_ns;
};

void jr_marks_add(struct jr_marks *marks, const struct jr_run *run,
                  const struct jr_marks_of *of);
void jr_marks_free(struct jr_marks *marks);

/* Marks and spans by name. */
struct jr_mark_sum {
    uint32_t name;
    uint8_t is_span;      /* a span, with or without its end */
    uint64_t count, open; /* all; and those without an end */
    uint64_t total_ns, longest_ns;
    uint64_t first_ns; /* when the first one was; of spans, the longest */
    uint32_t first_process;
};

/* The sums of all: spans by descending total, then marks by descending count.
 * An array of *count that the caller frees. */
struct jr_mark_sum *jr_marks_sums(const struct jr_marks *marks, size_t *count);

#endif
