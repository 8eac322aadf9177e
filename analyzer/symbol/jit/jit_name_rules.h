/* SPDX-License-Identifier: MIT
 *
 * The rules for names of JIT code: a new runtime needs a row in the table of
 * jit_names.c and, if no rule fits, one more of these.
 * Runs in: analyzer. */
#ifndef JR_JIT_NAME_RULES_H
#define JR_JIT_NAME_RULES_H

#include "jit_slice.h"

/* Writes what `rest`, the raw name behind the rule's prefix, calls the
 * function to the empty *name, and may set name->tier.  Returns 0 when it is
 * not of the rule's form: the next rule is tried. */
typedef int jr_take_name_fn(struct jr_slice rest, struct jr_jit_name *name);

#endif
