/* SPDX-License-Identifier: MIT
 *
 * Whether libdw may be asked for the ranges of an entry.
 * Runs in: analyzer. */
#ifndef JR_RANGE_LISTS_H
#define JR_RANGE_LISTS_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* The section of range lists of the file that was asked for last; all zero at
 * first. */
struct jr_range_lists {
    Dwarf *dwarf;
    const uint8_t *start;
    size_t size;
};

/* Whether the ranges of an entry begin in the section of range lists.  libdw
 * (0.188) looks at this where an entry says where they are, not where it says
 * which of a table's they are (DW_FORM_rnglistx). */
int jr_range_lists_have(struct jr_range_lists *lists, Dwarf_Die *die);

#endif
