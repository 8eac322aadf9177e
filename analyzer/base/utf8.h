/* SPDX-License-Identifier: MIT
 *
 * Text that came from files and names, a character at a time.
 * Runs in: analyzer, launcher. */
#ifndef JR_UTF8_H
#define JR_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define JR_UTF8_UNFIT 0xfffdU /* U+FFFD, the replacement character */

/* The next code point of a UTF-8 text that is not at its end; *text moves
 * behind it.  JR_UTF8_UNFIT for a byte that starts no valid sequence (one byte
 * is skipped), for control characters, for those that turn the direction of
 * writing, and for surrogates and noncharacters. */
uint32_t jr_utf8_next(const char **text);

/* The greatest length of at most `most` bytes, of a text that is longer, at
 * which no character is cut. */
size_t jr_utf8_cut(const char *text, size_t most);

/* Puts a '?' in the place of each character of a text that is
 * JR_UTF8_UNFIT: what is left cannot steer a terminal. */
void jr_utf8_blank(char *text);

#endif
