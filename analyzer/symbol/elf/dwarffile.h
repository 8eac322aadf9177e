/* SPDX-License-Identifier: MIT
 *
 * Where the DWARF of a module is, and what libdw cannot read of it by itself:
 * what dwz moved to another file, and sections packed by zstd.
 * Runs in: analyzer. */
#ifndef JR_DWARFFILE_H
#define JR_DWARFFILE_H

#include <elfutils/libdwfl.h>
#include <stdint.h>

#include "altfile.h"
#include "options.h"
#include "sections.h"
#include "symbol/dwarf/texts.h"

struct jr_dwarf_file {
    Dwarf *debug;
    uint64_t bias;    /* of its addresses to those of the module's file */
    const char *path; /* of the file that has it; lives with the module */
    struct jr_altfile alternate;
    struct jr_sections unpacked;
    struct jr_texts texts;
    int fd; /* -1: libdwfl has opened it all, else what is opened here: */
    Elf *elf;
};

/* Opens the DWARF of `module`, whose file is `elf` at `path`.  Returns 0, or
 * -1: there is none, or it is not to be read, which is said.  To be closed
 * after libdwfl's session is, in both cases. */
int jr_dwarf_file_open(Dwfl_Module *module, Elf *elf, const char *path,
                       const struct jr_debug_folders *folders,
                       struct jr_dwarf_file *file);
void jr_dwarf_file_close(struct jr_dwarf_file *file);

#endif
