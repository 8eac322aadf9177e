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

/* Whether the file goes on behind the section, so that each text ends and a few
 * bytes may be read there, which does no harm.  -1: the section is not in the
 * file, but unpacked from it. */
static int goes_on(const Elf_Data *data, const char *file, size_t size)
{
    const char *start = data->d_buf, *end = start + data->d_size;

    if (!file || start < file || end > file + size)
        return -1;
    return (size_t)(file + size - end) >= JR_TEXTS_ROOM &&
           memchr(end, '\0', (size_t)(file + size - end));
}

static int is_one_of(const void *block, void *const *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (blocks[i] == block)
            return 1;
    return 0;
}

/* The next section of DWARF behind `*section`; NULL: there is none. */
static Elf_Data *next_data(Elf *elf, Elf_Scn **section)
{
    size_t names;

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
        if (data && data->d_buf)
            return data;
    }
    return NULL;
}

void jr_texts_end(struct jr_texts *texts, Dwarf *dwarf, void *const *unpacked,
                  size_t count)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    size_t size = 0;
    const char *file = elf ? elf_rawfile(elf, &size) : NULL;
    Elf_Data *data;

    while (elf && (data = next_data(elf, &section))) {
        Elf_Data *shown = elf_getdata(section, NULL);
        char *copy;

        if (goes_on(data, file, size) > 0 ||
            is_one_of(data->d_buf, unpacked, count))
            continue;
        copy = jr_alloc(data->d_size + JR_TEXTS_ROOM, 1);
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
    size_t size = 0;
    const char *file = elf ? elf_rawfile(elf, &size) : NULL;
    const Elf_Data *data;

    while (elf && (data = next_data(elf, &section)))
        if (goes_on(data, file, size) == 0)
            return 0;
    return elf != NULL;
}

void jr_texts_free(struct jr_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct jr_texts){0};
}
