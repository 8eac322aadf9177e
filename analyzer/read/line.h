/* SPDX-License-Identifier: MIT
 *
 * Takes a line of a map apart: `TIME EVENT KEY=VALUE...`.
 * Runs in: analyzer. */
#ifndef JR_LINE_H
#define JR_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "jp_map.h"

#define JR_LINE_PAIRS 32 /* a line's keys beyond these are dropped */

struct jr_line_pair {
    const char *key;   /* NUL-terminated */
    const char *value; /* decoded; may hold NULs, and one follows it */
    size_t length;     /* of value */
};

struct jr_line {
    uint64_t time_ns;
    const char *event;
    struct jr_line_pair pairs[JR_LINE_PAIRS];
    size_t npairs;
    char text[JP_MAP_LINE_MAX + 1]; /* what the pointers point into */
};

/* Reads the decimal or hex number that is all of text[0..length).  Returns 0,
 * or -1 when it is none or does not fit. */
int jr_parse_number(const char *text, size_t length, unsigned base,
                    uint64_t *number);

/* Takes text[0..length), a line without its newline, apart.  Returns 0, or -1
 * when it is no line of a map. */
int jr_line_parse(struct jr_line *line, const char *text, size_t length);

/* The value of `key`, NULL when it is not there. */
const struct jr_line_pair *jr_line_find(const struct jr_line *line,
                                        const char *key);

/* The number behind `key` in decimal or hex (base 10 or 16).  Returns 0, or
 * -1 when there is none. */
int jr_line_number(const struct jr_line *line, const char *key, unsigned base,
                   uint64_t *number);

/* A copy of the text behind `key`, up to its first NUL, which the caller
 * frees; NULL when the key is not there. */
char *jr_line_text(const struct jr_line *line, const char *key);

#endif
