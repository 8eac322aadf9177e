/* SPDX-License-Identifier: MIT
 *
 * Split DWARF: the trees of units that are in .dwo files, or in a .dwp file
 * that packs those of a program.
 * Runs in: analyzer. */
#ifndef JR_SPLIT_H
#define JR_SPLIT_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "texts.h"

/* What was found so far for the units of one file; all zero at first. */
struct jr_dwarf_split {
    char *file;     /* that has the units, without links; NULL: not known */
    size_t missing; /* trees that could not be read */
    struct jr_texts texts; /* of .dwo files */
};

/* Sets *tree to the tree of the unit `head` when that is in another file: in
 * FILE.dwp, where libdw reads such, or in a .dwo file, which is looked for
 * where `head` says: below the folder in which it was compiled, and beside the
 * file.  What is no regular file is not opened.  Leaves *tree when the unit is
 * whole; says once for the program `path` that one is missing. */
void jr_split_find(struct jr_dwarf_split *split, const char *path,
                   Dwarf_Die *head, Dwarf_Die *tree);

/* Frees what is kept, once no tree is read any more. */
void jr_split_free(struct jr_dwarf_split *split);

#endif
