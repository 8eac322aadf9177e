/* SPDX-License-Identifier: MIT
 *
 * Lines and names of a unit of DWARF.
 * Runs in: analyzer. */
#ifndef JR_LINES_H
#define JR_LINES_H

#include "symbol/names/frame.h"
#include "symbol/names/strings.h"
#include "unit.h"

/* Finds out in which folder the unit was compiled. */
void jr_lines_open(struct jr_unit *unit);

/* Sets file, line and column of *frame to those of the instruction at
 * `address`, by the unit's line table, which is read at the first call. */
void jr_lines_of_code(struct jr_unit *unit, uint64_t address,
                      struct jr_strings *strings, struct jr_frame *frame);

/* Sets them to where the inlined call `entry` was made. */
void jr_lines_of_call(struct jr_unit *unit, Dwarf_Die *entry,
                      struct jr_strings *strings, struct jr_frame *frame);

/* The name of a function, or of one that was inlined, as the file has it:
 * mangled where it has that, for which *is_linkage is set, else cleared.  It
 * lives as long as the DWARF.  NULL: none. */
const char *jr_lines_name(Dwarf_Die *entry, int *is_linkage);

/* The line where the function of an entry is declared; 0: not known. */
uint32_t jr_lines_first(Dwarf_Die *entry);

/* The file in which the function of an entry of the unit's tree is declared;
 * NULL: not known, or by a number of another unit's. */
const char *jr_lines_first_file(struct jr_unit *unit, Dwarf_Die *entry,
                                struct jr_strings *strings);

#endif
