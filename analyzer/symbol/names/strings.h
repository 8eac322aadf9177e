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

/* The one frame that equals *frame, whose strings are from jr_strings_add but
 * for the tier, a literal.  It lives until jr_strings_free. */
const struct jr_frame *jr_strings_frame_of(struct jr_strings *strings,
                                           const struct jr_frame *frame);

/* The same of this kind, name and module, without file and line. */
const struct jr_frame *jr_strings_frame(struct jr_strings *strings,
                                        uint8_t kind, const char *name,
                                        const char *module);

#endif
