/* SPDX-License-Identifier: MIT
 *
 * What a function of C++ is in, namespaces, classes and functions, where it has
 * no linkage name that tells that.  GCC gives such names only to what other
 * units can see.
 * Runs in: analyzer. */
#ifndef JR_SCOPES_H
#define JR_SCOPES_H

#include "unit.h"

/* Moves *entry from a function, or one that was inlined, to where it was
 * declared, which may be in another unit. */
void jr_scopes_declaration(Dwarf_Die *entry);

/* The names around a declaration that an entry of the unit leads to, each with
 * "::" behind it; NULL where none has a name.  The caller frees it. */
char *jr_scopes_names(struct jr_unit *unit, Dwarf_Die *declaration);

#endif
