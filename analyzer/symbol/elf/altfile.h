/* SPDX-License-Identifier: MIT
 *
 * The file that dwz put the DWARF into that several files have in common.
 * Runs in: analyzer. */
#ifndef JR_ALTFILE_H
#define JR_ALTFILE_H

#include <elfutils/libdw.h>

#include "options.h"
#include "sections.h"
#include "symbol/dwarf/texts.h"

struct jr_altfile {
    int fd; /* -1: there is none */
    Elf *elf;
    Dwarf *dwarf;
    struct jr_sections unpacked;
    struct jr_texts texts;
};

/* Opens what the .gnu_debugaltlink of `debug`, read from `path`, names and
 * gives it to libdw: by its path, from `path` on, by build-id as
 * jr_debugfile_by_id has it, and below each given folder; the build-id is
 * compared.  Returns 0, or -1 when `debug` must not be used, as libdw would
 * open by itself what is no regular file.  Says it when the file is missing.
 * To be closed when `debug` is gone. */
int jr_altfile_open(const struct jr_debug_folders *folders, Dwarf *debug,
                    const char *path, struct jr_altfile *alternate);
void jr_altfile_close(struct jr_altfile *alternate);

#endif
