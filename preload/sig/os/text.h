/* SPDX-License-Identifier: MIT
 *
 * Text without stdio: appends strings and numbers to a buffer of fixed size.
 * What does not fit is left out and remembered as `cut`.
 * Runs in: handler, any thread. */
#ifndef JP_TEXT_H
#define JP_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct jp_text {
    char *data;    /* always NUL-terminated */
    size_t size;   /* of the buffer */
    size_t length; /* used, without the NUL */
    int cut;       /* something did not fit */
};

/* Starts an empty text in `buffer`; size at least 1. */
void jp_text_init_sig(struct jp_text *text, char *buffer, size_t size);

void jp_text_char_sig(struct jp_text *text, char c);
void jp_text_add_sig(struct jp_text *text, const char *string);
void jp_text_bytes_sig(struct jp_text *text, const char *bytes, size_t count);
void jp_text_decimal_sig(struct jp_text *text, uint64_t number);
void jp_text_hex_sig(struct jp_text *text, uint64_t number);

/* Appends bytes as the map wants its values: %XX where needed. */
void jp_text_value_sig(struct jp_text *text, const char *bytes, size_t count);

/* Cuts the text back to `length`, which must not be beyond its end. */
void jp_text_trim_sig(struct jp_text *text, size_t length);

/* Reads digits of base 10 or 16 at *at (not beyond `end`) and moves *at behind
 * them.  Returns the number; wraps on overflow. */
uint64_t jp_text_number_sig(const char **at, const char *end, unsigned base);

size_t jp_text_length_sig(const char *string);
int jp_text_equal_sig(const char *a, const char *b);

#endif
