/* SPDX-License-Identifier: MIT
 *
 * Gives each text of a file's DWARF an end.
 * Runs in: analyzer. */
#ifndef JR_TEXTS_H
#define JR_TEXTS_H

#include <elfutils/libdw.h>
#include <stddef.h>

/* Copies of sections. */
struct jr_texts {
    void **items;
    size_t count, room;
};

/* Before libdw is asked for a text of the file: it gives out a text that begins
 * in a section whether it ends there or not, so a section in which the last one
 * has no end is replaced by a copy with a zero behind it. */
void jr_texts_end(struct jr_texts *texts, Dwarf *dwarf);

/* Whether each text of the file has an end as it is. */
int jr_texts_are_ended(Dwarf *dwarf);

/* Frees the copies, once nobody reads the file. */
void jr_texts_free(struct jr_texts *texts);

#endif
