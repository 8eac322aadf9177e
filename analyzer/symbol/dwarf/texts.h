/* SPDX-License-Identifier: MIT
 *
 * Gives each text of a file's DWARF an end.
 * Runs in: analyzer. */
#ifndef JR_TEXTS_H
#define JR_TEXTS_H

#include <elfutils/libdw.h>
#include <stddef.h>

#define JR_TEXTS_ROOM 16 /* bytes that are zero, behind what is unpacked */

/* Copies of sections. */
struct jr_texts {
    void **items;
    size_t count, room;
};

/* Before libdw (0.188) is asked for a text or a number of the file: it gives
 * out a text that begins in a section, or just behind it, whether it ends there
 * or not, and reads a few bytes of a line table too many.  A section behind
 * which the file ends is replaced by a copy with zeros behind it; not so are
 * those of the `count` blocks of `unpacked`, which have JR_TEXTS_ROOM. */
void jr_texts_end(struct jr_texts *texts, Dwarf *dwarf, void *const *unpacked,
                  size_t count);

/* Whether libdw may be asked for those of the file as it is. */
int jr_texts_are_ended(Dwarf *dwarf);

/* Frees the copies, once nobody reads the file. */
void jr_texts_free(struct jr_texts *texts);

#endif
