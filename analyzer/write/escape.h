/* SPDX-License-Identifier: MIT
 *
 * Escapes untrusted text from files for the format that it is written to.
 * Runs in: analyzer. */
#ifndef JR_ESCAPE_H
#define JR_ESCAPE_H

#include <stdio.h>

/* HTML text and attribute values. */
void jr_put_html(FILE *out, const char *text);
/* One line of plain text. */
void jr_put_text(FILE *out, const char *text);
/* A frame of a collapsed stack: `;` becomes `:`, a line break a blank. */
void jr_put_collapsed(FILE *out, const char *text);
/* For between the quotation marks of a JSON string: a tab becomes a blank, and
 * what is no text U+FFFD; with _lines, line ends and tabs stay. */
void jr_put_json(FILE *out, const char *text);
void jr_put_json_lines(FILE *out, const char *text);

#endif
