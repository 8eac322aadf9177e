/* SPDX-License-Identifier: MIT
 *
 * What the rules for names of JIT code are made of: slices of the raw name, and
 * the readable name that is put together from them.
 * Runs in: analyzer. */
#ifndef JR_JIT_SLICE_H
#define JR_JIT_SLICE_H

#include <stddef.h>

#include "base/slice.h"

/* What a raw name says. */
struct jr_jit_name {
    char *text; /* the readable name, NUL-terminated, not empty */
    size_t length, room;
    const char *tier; /* static: "TurboFan", "builtin"...; NULL: not said */
    int is_kind;      /* the tier is a kind of code without tiers, such as
                           "builtin", and part of the function's identity */
};

/* Append to a name. */
void jr_name_add(struct jr_jit_name *name, struct jr_slice slice);
void jr_name_add_text(struct jr_jit_name *name, const char *text);

/* The rule (jit_name_rules.h) that takes all of `rest` as it is; returns 1. */
int jr_name_plain(struct jr_slice rest, struct jr_jit_name *name);

/* The place of `c`, of `text`, or its last one; slice.length: not there. */
size_t jr_slice_find(struct jr_slice slice, char c);
size_t jr_slice_find_text(struct jr_slice slice, const char *text);
size_t jr_slice_find_last(struct jr_slice slice, char c);

int jr_slice_starts(struct jr_slice slice, const char *text);
int jr_slice_ends(struct jr_slice slice, const char *text);
/* The slice without its first `count` bytes; its first `count` bytes. */
struct jr_slice jr_slice_skip(struct jr_slice slice, size_t count);
struct jr_slice jr_slice_head(struct jr_slice slice, size_t count);
/* One digit at least, and nothing else. */
int jr_slice_is_number(struct jr_slice slice);

#endif
