/* SPDX-License-Identifier: MIT
 *
 * The line table of a unit (DWARF 5, 6.2): its files and its rows.
 * Runs in: analyzer. */
#ifndef JR_LINE_TABLE_H
#define JR_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "line_rows.h"
#include "shared.h"

struct jr_line_file {
    const char *folder; /* NULL: not said */
    const char *name;   /* NULL: there is no such file */
    const char *shown;  /* the caller's: NULL at first */
};

/* All zero is an empty table. */
struct jr_line_table {
    const char **folders;
    size_t nfolders, folders_room;
    struct jr_line_file *files; /* by the number that rows have */
    size_t nfiles, files_room;
    struct jr_line_rows rows;
};

/* Reads the table at `offset` of .debug_line into an empty one.  `folder` is
 * where the unit was compiled, NULL: not known.  Code that is not in the file
 * is left out.  Returns 0; 1 for a damaged table, which stays empty (libdw
 * 0.196 crashes of a name that is not there); or -1 for one that libdw may
 * read: of a kind that is not known here, or with damaged rows, or when the
 * budget has not a step for each byte. */
int jr_line_table_read(struct jr_line_table *table,
                       struct jr_dwarf_shared *shared, uint64_t offset,
                       const char *folder);
void jr_line_table_free(struct jr_line_table *table);

#endif
