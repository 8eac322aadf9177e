/* SPDX-License-Identifier: MIT
 *
 * Text without stdio: appending strings and numbers to a buffer of fixed size.
 * What does not fit is left out, and `cut` is set.
 * Runs in: handler, any thread. */
#ifndef JP_TEXT_H
#define JP_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct jp_text {
    char *data;    /* always NUL-terminated */
    size_t size;   /* of the buffer */
    size_t length; /* bytes used, without the NUL */
    int cut;       /* 1: something did not fit */
};

/* Begins an empty text in `buffer`, which the caller keeps; size: at least
 * 1. */
void jp_text_init_sig(struct jp_text *text, char *buffer, size_t size);

/* Append a byte, a string, `count` bytes, and a number in decimal or lower-case
 * hexadecimal digits. */
void jp_text_char_sig(struct jp_text *text, char c);
void jp_text_add_sig(struct jp_text *text, const char *string);
void jp_text_bytes_sig(struct jp_text *text, const char *bytes, size_t count);
void jp_text_decimal_sig(struct jp_text *text, uint64_t number);
void jp_text_hex_sig(struct jp_text *text, uint64_t number);

/* Appends bytes as a value of the map: every byte outside '!'..'~', and '%', as
 * %XX. */
void jp_text_value_sig(struct jp_text *text, const char *bytes, size_t count);

/* Shortens the text to `length`, which must not be beyond its end. */
void jp_text_trim_sig(struct jp_text *text, size_t length);

/* Reads digits of base 10 or 16 (lower case) at *at, up to `end`, and moves
 * *at behind them.  Returns the number, which wraps on overflow; 0 without
 * digits. */
uint64_t jp_text_number_sig(const char **at, const char *end, unsigned base);

/* The same as strlen. */
size_t jp_text_length_sig(const char *string);

#endif
