/* SPDX-License-Identifier: MIT
 *
 * Writes untrusted text as strings of JSON.
 * Runs in: analyzer. */
#ifndef JR_JSON_H
#define JR_JSON_H

#include <stddef.h>
#include <stdio.h>

/* Writes `text` as a JSON string; a text longer than `most` bytes is cut there
 * and ends in an ellipsis.  What jr_utf8_next finds unfit becomes U+FFFD. */
void jr_page_json(FILE *out, const char *text, size_t most);

#endif
