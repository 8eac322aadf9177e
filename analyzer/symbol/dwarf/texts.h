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

/* Does so for a .dwo file, which libdw has opened by itself: it keeps places in
 * the tree, which stays as it is (jr_lines_name knows its end).  What is done
 * already, as of a .dwp file with many units, is not done again.  Returns 0, or
 * -1 when libdw may not be asked for a text of it. */
int jr_texts_end_dwo(struct jr_texts *texts, Dwarf *dwarf);

/* How many bytes of its section there are from this one on; 0: it is in none.
 */
size_t jr_texts_left(Dwarf *dwarf, const void *at);

/* Frees the copies, once nobody reads the file. */
void jr_texts_free(struct jr_texts *texts);

#endif
