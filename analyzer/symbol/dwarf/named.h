/* SPDX-License-Identifier: MIT
 *
 * The sections of a file, one after the other.
 * Runs in: analyzer. */
#ifndef JR_NAMED_H
#define JR_NAMED_H

#include <gelf.h>

/* Goes from `*section`, NULL at first, to the next section that has bytes in
 * the file and a name, and sets its head.  Returns the name, which is the
 * file's; NULL at the end. */
static inline const char *jr_named_next(Elf *elf, Elf_Scn **section,
                                        GElf_Shdr *header)
{
    size_t names;

    if (elf_getshdrstrndx(elf, &names) < 0)
        return NULL;
    while ((*section = elf_nextscn(elf, *section))) {
        const char *name =
            gelf_getshdr(*section, header) && header->sh_type != SHT_NOBITS
                ? elf_strptr(elf, names, header->sh_name)
                : NULL;

        if (name)
            return name;
    }
    return NULL;
}

#endif
