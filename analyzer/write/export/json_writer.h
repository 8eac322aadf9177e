/* SPDX-License-Identifier: MIT
 *
 * Writes a JSON document piece by piece.  What is wrong with the stream stays
 * in it for the caller.
 * Runs in: analyzer. */
#ifndef JR_JSON_WRITER_H
#define JR_JSON_WRITER_H

#include <stdint.h>
#include <stdio.h>

/* A document that is being written; {.out = ...} is an empty one. */
struct jr_json {
    FILE *out;
    int more; /* what comes next needs a comma before it */
};

/* An array or object begins ('[', '{') or ends (']', '}'). */
void jr_json_open(struct jr_json *json, char bracket);
void jr_json_close(struct jr_json *json, char bracket);

/* The key of the next value; a literal that needs no escaping. */
void jr_json_key(struct jr_json *json, const char *key);

/* Values.  A string is text without line ends; NULL becomes null.  Lines are
 * text whose line ends and tabs stay.  A word is true, false, null or a number
 * as it is. */
void jr_json_string(struct jr_json *json, const char *text);
void jr_json_lines(struct jr_json *json, const char *text);
void jr_json_word(struct jr_json *json, const char *word);
void jr_json_uint(struct jr_json *json, uint64_t number);
void jr_json_int(struct jr_json *json, int64_t number);

/* Nanoseconds as milliseconds, to the microsecond (rounded), without trailing
 * zeros. */
void jr_json_ms(struct jr_json *json, uint64_t ns);

/* A key with its value. */
void jr_json_key_string(struct jr_json *json, const char *key,
                        const char *text);
void jr_json_key_uint(struct jr_json *json, const char *key, uint64_t number);
void jr_json_key_word(struct jr_json *json, const char *key, const char *word);

#endif
