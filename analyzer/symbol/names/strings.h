/* SPDX-License-Identifier: MIT
 *
 * Unique strings and unique frames: equal ones have equal pointers.
 * Runs in: analyzer. */
#ifndef JR_STRINGS_H
#define JR_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "frame.h"

struct jr_strings;

struct jr_strings *jr_strings_new(void);
void jr_strings_free(struct jr_strings *strings);

/* The one copy of text[0..length), in which NULs become '?'.  It lives until
 * jr_strings_free. */
const char *jr_strings_add(struct jr_strings *strings, const char *text,
                           size_t length);

/* The part of a function that a symbol names (jr_symbol_part), without its dot:
 * "cold", of letters, digits, dots and a slash; NULL: the function itself. */
const char *jr_strings_part(struct jr_strings *strings, const char *symbol,
                            size_t length);

/* The one frame that equals *frame, whose strings are from jr_strings_add or,
 * the tier, literals.  It lives until jr_strings_free. */
const struct jr_frame *jr_strings_frame_of(struct jr_strings *strings,
                                           const struct jr_frame *frame);

/* The same of this kind, name and module, without file and line. */
const struct jr_frame *jr_strings_frame(struct jr_strings *strings,
                                        uint8_t kind, const char *name,
                                        const char *module);

#endif
