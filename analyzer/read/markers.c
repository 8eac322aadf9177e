/* SPDX-License-Identifier: MIT
 *
 * Reads a file of markers, line by line: `START END NAME`, a line for each
 * performance.measure(), in nanoseconds of CLOCK_MONOTONIC (Gecko's
 * dom/performance/Performance.cpp, MaybeEmitExternalProfilerMarker).  Nothing
 * is escaped: a name may be empty or have line breaks.
 * Runs in: analyzer. */
#include "markers.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "line.h"

#define FILE_SIZE_MAX (64ULL << 20) /* bytes: more than a million lines */
#define NUMBER_MAX 20U              /* digits */
#define NO_NAME "(no name)"

int jr_markers_is_name(const char *name)
{
    const size_t start = sizeof JR_MARKERS_NAME - 1;
    size_t digits;

    if (strncmp(name, JR_MARKERS_NAME, start) != 0)
        return 0;
    digits = strspn(name + start, "0123456789");
    return digits > 0 && digits <= NUMBER_MAX &&
           strcmp(name + start + digits, ".txt") == 0;
}

/* Takes the number and the blank at text[*at); returns 0, or -1. */
static int take_number(const char *text, size_t length, size_t *at,
                       uint64_t *number)
{
    const char *blank = memchr(text + *at, ' ', length - *at);
    const size_t digits = blank ? (size_t)(blank - text) - *at : 0;

    if (digits == 0 || digits > NUMBER_MAX ||
        jr_parse_number(text + *at, digits, 10, number) < 0)
        return -1;
    *at += digits + 1;
    return 0;
}

/* Adds bytes to the name of the run's last mark, as many as a name may have;
 * a character of UTF-8 is not cut. */
static void add_to_name(struct jr_run *run, const char *text, size_t length)
{
    struct jr_mark *mark = &run->marks[run->nmarks - 1];
    const size_t room = JP_MARK_NAME_MAX - mark->length;

    if (length > room)
        length = jr_utf8_cut(text, room);
    run->mark_names = jr_grow(run->mark_names, run->nmark_names + length,
                              &run->mark_names_room, 1);
    memcpy(run->mark_names + run->nmark_names, text, length);
    run->nmark_names += length;
    mark->length = (uint8_t)(mark->length + length);
}

/* Whether the mark that was read last is one of the file's. */
enum last { NONE, READ, LEFT_OUT };

static enum last take_line(struct jr_run *run, const char *text, size_t length,
                           enum last last)
{
    uint64_t start, end;
    size_t at = 0;

    if (take_number(text, length, &at, &start) < 0 ||
        take_number(text, length, &at, &end) < 0) {
        /* What follows a line break in a name. */
        if (last == READ) {
            add_to_name(run, " ", 1);
            add_to_name(run, text, length);
        }
        return last;
    }
    /* What ended before the run began is of a process before it, which had
     * the same pid, or no longer counts. */
    if (end < start || end < run->header.mono_ns ||
        start < run->header.cleared_ns)
        return LEFT_OUT;
    *JR_PUSH(run->marks, run->nmarks, run->marks_room) =
        (struct jr_mark){.time_ns = start,
                         .until_ns = end,
                         .tid = run->header.pid,
                         .kind = JR_MARK_MEASURE,
                         .name = run->nmark_names};
    if (at < length)
        add_to_name(run, text + at, length - at);
    else
        add_to_name(run, NO_NAME, sizeof NO_NAME - 1);
    return READ;
}

void jr_markers_parse(const uint8_t *data, size_t size, const char *path,
                      struct jr_run *run, struct jr_diag *diag)
{
    const char *all = (const char *)data;
    enum last last = NONE;

    for (size_t at = 0, length; at < size; at += length + 1) {
        const char *newline = memchr(all + at, '\n', size - at);

        length = newline ? (size_t)(newline - all) - at : size - at;
        if (!newline) {
            jr_warn(diag, path, at, "the last line is cut; left out");
        } else if (memchr(all + at, '\0', length)) {
            jr_warn(diag, path, at, "a marker with a NUL; left out");
            last = LEFT_OUT;
        } else {
            last = take_line(run, all + at, length, last);
            if (last == NONE)
                jr_warn(diag, path, at,
                        "is no line of a file of markers; left out");
        }
    }
}

int jr_markers_read(const char *path, struct jr_run *run, struct jr_diag *diag)
{
    struct jr_bytes bytes;
    const char *why;

    if (jr_file_read(path, FILE_SIZE_MAX, &bytes, &why) < 0) {
        jr_warn(diag, path, JR_NO_OFFSET, "%s; its markers are not known", why);
        return -1;
    }
    jr_markers_parse(bytes.data, bytes.size, path, run, diag);
    free(bytes.data);
    return 0;
}
