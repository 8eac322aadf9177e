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
#include "named.h"

/* The file, and where its last zero is; NULL: it has none. */
struct file {
    const char *start, *last;
    size_t size;
};

static struct file file_of(Elf *elf)
{
    struct file file = {0};

    if (elf)
        file.start = elf_rawfile(elf, &file.size);
    if (file.start)
        file.last = memrchr(file.start, '\0', file.size);
    return file;
}

/* Whether the file goes on behind the section, so that each text ends and a few
 * bytes may be read there, which does no harm.  -1: the section is not in the
 * file, but unpacked from it. */
static int goes_on(const Elf_Data *data, const struct file *file)
{
    const char *start = data->d_buf, *end = start + data->d_size;

    if (!file->start || start < file->start || end > file->start + file->size)
        return -1;
    return (size_t)(file->start + file->size - end) >= JR_TEXTS_ROOM &&
           file->last && file->last >= end;
}

static int is_one_of(const void *block, void *const *blocks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (blocks[i] == block)
            return 1;
    return 0;
}

/* The next section of DWARF behind `*section`, and its name; NULL: there is
 * none. */
static Elf_Data *next_data(Elf *elf, Elf_Scn **section, const char **name)
{
    GElf_Shdr header;

    while ((*name = jr_named_next(elf, section, &header))) {
        Elf_Data *data;

        /* Those that are still packed nobody reads. */
        if ((header.sh_flags & SHF_COMPRESSED) ||
            (strncmp(*name, ".debug", 6) != 0 &&
             strncmp(*name, ".zdebug", 7) != 0))
            continue;
        data = elf_rawdata(*section, NULL);
        if (data && data->d_buf)
            return data;
    }
    return NULL;
}

/* The first of the file's bytes that are in a section behind which it ends;
 * NULL: there is none. */
static const char *first_to_copy(Elf *elf, const struct file *file)
{
    Elf_Scn *section = NULL;
    const char *first = NULL;
    const Elf_Data *data;
    const char *name;

    while ((data = next_data(elf, &section, &name)))
        if (goes_on(data, file) == 0 &&
            (!first || (const char *)data->d_buf < first))
            first = data->d_buf;
    return first;
}

static char *copy_of(struct jr_texts *texts, const char *from, size_t size)
{
    char *copy = jr_alloc(size + JR_TEXTS_ROOM, 1);

    memcpy(copy, from, size);
    *JR_PUSH(texts->items, texts->count, texts->room) = copy;
    return copy;
}

/* Puts a copy into a section's place. */
static void replace(Elf_Scn *section, Elf_Data *data, char *copy)
{
    Elf_Data *shown = elf_getdata(section, NULL);

    /* libelf has given libdw one or the other of these. */
    if (shown && shown->d_buf == data->d_buf)
        shown->d_buf = copy;
    data->d_buf = copy;
}

void jr_texts_end(struct jr_texts *texts, Dwarf *dwarf, void *const *unpacked,
                  size_t count)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    const struct file file = file_of(elf);
    /* One copy for all of these, as any number of them may overlap. */
    const char *first = elf ? first_to_copy(elf, &file) : NULL;
    char *tail =
        first ? copy_of(texts, first, (size_t)(file.start + file.size - first))
              : NULL;
    const char *name;
    Elf_Data *data;

    while (elf && (data = next_data(elf, &section, &name))) {
        const int more = goes_on(data, &file);

        if (more == 0)
            replace(section, data, tail + ((const char *)data->d_buf - first));
        else if (more < 0 && !is_one_of(data->d_buf, unpacked, count))
            replace(section, data, copy_of(texts, data->d_buf, data->d_size));
    }
}

/* Whether libdw keeps no place in the section `name` from when it opened the
 * file on: it has texts alone, or line tables. */
static int may_move(const char *name)
{
    return strstr(name, "_line") ||
           (strstr(name, "_str") && !strstr(name, "_str_"));
}

int jr_texts_end_dwo(struct jr_texts *texts, Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    const struct file file = file_of(elf);
    const char *name;
    Elf_Data *data;

    while (elf && (data = next_data(elf, &section, &name))) {
        const int more = goes_on(data, &file);

        if (more == 0)
            return -1;
        if (more < 0 && may_move(name) &&
            !is_one_of(data->d_buf, texts->items, texts->count))
            replace(section, data, copy_of(texts, data->d_buf, data->d_size));
    }
    return elf ? 0 : -1;
}

static size_t left_of(const Elf_Data *data, const char *at)
{
    const char *start = data ? data->d_buf : NULL;

    return start && at >= start && at < start + data->d_size
               ? (size_t)(start + data->d_size - at)
               : 0;
}

size_t jr_texts_left(Dwarf *dwarf, const void *at)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    const Elf_Data *data;
    const char *name;
    size_t left = 0;

    /* libelf has given libdw one or the other of these. */
    while (elf && left == 0 && (data = next_data(elf, &section, &name))) {
        left = left_of(data, at);
        if (left == 0)
            left = left_of(elf_getdata(section, NULL), at);
    }
    return left;
}

void jr_texts_free(struct jr_texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    *texts = (struct jr_texts){0};
}
