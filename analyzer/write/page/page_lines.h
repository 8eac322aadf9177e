/* SPDX-License-Identifier: MIT
 *
 * Source lines as the page's code has them: each once, with their text as far
 * as there is room.
 * Runs in: analyzer. */
#ifndef JR_PAGE_LINES_H
#define JR_PAGE_LINES_H

#include <stdint.h>
#include <stdio.h>

#include "base/table.h"
#include "symbol/listing.h"
#include "symbol/names/frame.h"

/* Strings of frames, each once. */
struct jr_page_words {
    const char **items;
    size_t count, room;
    struct jr_table by_word;
};

struct jr_page_lines {
    struct jr_listings *listings;
    struct jr_page_words names, files;
    struct jr_table by_line; /* a function's line, */
    struct jr_table by_text; /* and a file's, whose text was looked for */
    FILE *lines, *texts;     /* JSON: [name, file, line], [file, line, text] */
    char *lines_text, *texts_text;
    size_t lines_size, texts_size;
    size_t nlines, ntexts, left; /* left: bytes of texts */
};

/* No lines so far; sources may be read in these places. */
void jr_page_lines_open(struct jr_page_lines *lines,
                        const struct jr_listing_places *places);

/* The number of a frame's line, of the frame's function; the frame has one. */
uint32_t jr_page_lines_add(struct jr_page_lines *lines,
                           const struct jr_frame *frame);

/* The number of a file; the text of `line` in it, and of so many lines before
 * and behind it, becomes part of the page while there is room. */
uint32_t jr_page_lines_text(struct jr_page_lines *lines, const char *file,
                            uint32_t line, uint32_t around);

/* Writes them as members of a JSON object, and frees them. */
void jr_page_lines_close(struct jr_page_lines *lines, FILE *out);

#endif
