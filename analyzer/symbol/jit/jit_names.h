/* SPDX-License-Identifier: MIT
 *
 * The names that runtimes give their code: the tier set apart from the
 * function, so that a function has one name in all tiers.
 * Runs in: analyzer. */
#ifndef JR_JIT_NAMES_H
#define JR_JIT_NAMES_H

#include <stddef.h>

#include "jit_slice.h"
#include "symbol/names/strings.h"

/* Names longer than this are left as they are. */
#define JR_JIT_NAME_MAX 65536

/* Reads raw[0..length), which holds no NUL, into the zeroed or used *name.
 * Returns 1, or 0 when no rule knows the name or there is nothing to set
 * apart; name->text is then undefined.  The caller frees name->text. */
int jr_jit_name_read(const char *raw, size_t length, struct jr_jit_name *name);

/* Fills *frame for the JIT code raw[0..length): kind, module "[jit]", names
 * and tier; no file and line.  jr_strings_frame_of makes it one that stays. */
void jr_jit_name_frame(struct jr_strings *strings, const char *raw,
                       size_t length, struct jr_frame *frame);

#endif
