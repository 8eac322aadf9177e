/* SPDX-License-Identifier: MIT
 *
 * Texts are in .debug_str, .debug_line_str and .debug_info, of the file or of
 * what was unpacked from it.
 * Runs in: analyzer. */
#include "texts.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Whether a text that begins in the section ends somewhere in memory that is
 * the file's: what is behind a section in a file does no harm. */
static int has_end(const Elf_Data *data, const char *file, size_t size)
{
    const char *start = data->d_buf, *end = start + data->d_size;

    if (data->d_size == 0 || end[-1] == '\0')
        return 1;
    return file && start >= file && end <= file + size &&
           memchr(end, '\0', (size_t)(file + size - end));
}

/* The next section of DWARF behind `*section` whose last text has no end; NULL:
 * there is none. */
static Elf_Data *next_endless(Elf *elf, Elf_Scn **section)
{
    size_t size = 0, names;
    const char *file = elf_rawfile(elf, &size);

    if (elf_getshdrstrndx(elf, &names) < 0)
        return NULL;
    while ((*section = elf_nextscn(elf, *section))) {
        GElf_Shdr header;
        Elf_Data *data;
        const char *name;

        /* Those that are still packed nobody reads. */
        if (!gelf_getshdr(*section, &header) || header.sh_type == SHT_NOBITS ||
            (header.sh_flags & SHF_COMPRESSED) ||
            !(name = elf_strptr(elf, names, header.sh_name)) ||
            (strncmp(name, ".debug", 6) != 0 &&
             strncmp(name, ".zdebug", 7) != 0))
            continue;
        data = elf_rawdata(*section, NULL);
        if (data && data->d_buf && !has_end(data, file, size))
            return data;
    }
    return NULL;
}

void jr_texts_end(struct jr_texts *texts, Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    Elf_Data *data;

    while (elf && (data = next_endless(elf, &section))) {
        Elf_Data *shown = elf_getdata(section, NULL);
        char *copy = jr_alloc(data->d_size + 1, 1);

        memcpy(copy, data->d_buf, data->d_size);
        /* libelf has given libdw one or the other of these. */
        if (shown && shown->d_buf == data->d_buf)
            shown->d_buf = copy;
        data->d_buf = copy;
        *JR_PUSH(texts->items, texts->count, texts->room) = copy;
    }
}

int jr_texts_are_ended(Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;

    return elf && !next_endless(elf, &section);
}

void jr_texts_free(struct jr_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct jr_texts){0};
}
