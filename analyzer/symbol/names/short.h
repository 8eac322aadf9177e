/* SPDX-License-Identifier: MIT
 *
 * Short forms of names: "f<...>" for "int N::f<int>(char const*) const".
 * Runs in: analyzer. */
#ifndef JR_SHORT_H
#define JR_SHORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

/* A part of a name, [from, to), that its short form leaves out; with `dots`, an
 * ellipsis stands there. */
struct jr_cut {
    uint32_t from, to;
    uint8_t dots;
};

/* The parts of the name that was looked at last; begins as zeros. */
struct jr_short {
    struct jr_cut *cuts; /* in order, none touches another */
    size_t ncuts, room;
    uint32_t *mates; /* scratch: by byte, the bracket that it belongs to */
    size_t nmates;
    uint32_t *open; /* scratch: brackets that are not closed yet */
    size_t nopen, open_room;
};

/* Finds what the short form of a name leaves out: template arguments, for which
 * an ellipsis stands; of a name that ends in a list of arguments, that list
 * with what follows it and the type of the result before the name; the lists of
 * functions that others are in; the folders of a place in a source file, as in
 * "f (folder/file.js:1)".  What is in brackets in a name's beginning, as in
 * Rust's "<T as Trait>::f", or stands for a name, as in "Main.<init>", stays.
 * Takes time in proportion to the name's length. */
void jr_short_find(struct jr_short *found, const char *name);
void jr_short_free(struct jr_short *found);

/* The short form of a name; the caller frees it. */
char *jr_short_name(const char *name);

#endif
