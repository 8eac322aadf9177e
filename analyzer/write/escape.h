/* SPDX-License-Identifier: MIT
 *
 * Names are data: writes text that came from files so that it can be nothing
 * but text in the format that it goes into.
 * Runs in: analyzer. */
#ifndef JR_ESCAPE_H
#define JR_ESCAPE_H

#include <stdint.h>
#include <stdio.h>

/* The next code point of a UTF-8 text that is not at its end; *text moves
 * behind it.  U+FFFD for a byte that starts no valid sequence (one byte is
 * skipped), for control characters, for those that turn the direction of
 * writing, and for surrogates and noncharacters. */
uint32_t jr_utf8_next(const char **text);

/* HTML text and attribute values. */
void jr_put_html(FILE *out, const char *text);
/* One line of plain text. */
void jr_put_text(FILE *out, const char *text);
/* A frame of a collapsed stack: `;` becomes `:`, a line break a blank. */
void jr_put_collapsed(FILE *out, const char *text);

#endif
