/* SPDX-License-Identifier: MIT
 *
 * SHF_COMPRESSED of the ELF gABI: the head of a packed section, then the
 * format of zlib (RFC 1950) or frames of Zstandard (RFC 8878).
 * Runs in: analyzer. */
#include "sections.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#ifdef JR_LIBDEFLATE
#include <libdeflate.h>
#endif

#include "base/diag.h"
#include "base/mem.h"
#include "packed.h"
#include "symbol/dwarf/texts.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* DWARF 5, sections 6 and 7.7, and DWARF 4: what no question for functions and
 * lines reads.  In a C++ program it is a seventh of all. */
static const char *const unread[] = {
    "_loc", "_loclists", "_macro", "_macinfo", "_pubnames", "_pubtypes",
};

/* Unpacks `size` bytes at `from`; returns 0 when they make just `room`. */
typedef int unpack_fn(const void *from, size_t size, void *into, size_t room);

static int unpack_zstd(const void *from, size_t size, void *into, size_t room)
{
    return ZSTD_decompress(into, room, from, size) == room ? 0 : -1;
}

#ifdef JR_LIBDEFLATE
static int unpack_zlib(const void *from, size_t size, void *into, size_t room)
{
    struct libdeflate_decompressor *unpacker = libdeflate_alloc_decompressor();
    int result = -1;

    /* Without a place for the size that it came to, that must be `room`. */
    if (unpacker && libdeflate_zlib_decompress(unpacker, from, size, into, room,
                                               NULL) == LIBDEFLATE_SUCCESS)
        result = 0;
    libdeflate_free_decompressor(unpacker);
    return result;
}
#endif

static unpack_fn *unpacker_of(const GElf_Chdr *head)
{
    switch (head->ch_type) {
    case ELFCOMPRESS_ZSTD:
        return unpack_zstd;
#ifdef JR_LIBDEFLATE
    case ELFCOMPRESS_ZLIB:
        return unpack_zlib;
#endif
    default:
        return NULL;
    }
}

/* Unpacks one section.  Returns 0, or -1 when its bytes are no such thing. */
static int unpack(Elf *elf, Elf_Scn *section, const GElf_Chdr *head,
                  unpack_fn *unpacker, struct jr_sections *unpacked)
{
    const size_t start = gelf_getclass(elf) == ELFCLASS32 ? sizeof(Elf32_Chdr)
                                                          : sizeof(Elf64_Chdr);
    Elf_Data *data = elf_rawdata(section, NULL);
    Elf_Data *shown = elf_getdata(section, NULL);
    GElf_Shdr header;
    void *made;

    if (!data || !shown || !data->d_buf || data->d_size < start ||
        !gelf_getshdr(section, &header) ||
        __builtin_add_overflow(unpacked->after, head->ch_size,
                               &unpacked->after))
        return -1;
    unpacked->before += data->d_size;
    if (!jr_packed_is_usual(unpacked->before, unpacked->after))
        return -1;
    made = jr_alloc(head->ch_size + JR_TEXTS_ROOM, 1);
    if (unpacker((char *)data->d_buf + start, data->d_size - start, made,
                 head->ch_size) != 0) {
        free(made);
        return -1;
    }
    *JR_PUSH(unpacked->items, unpacked->count, unpacked->room) = made;
    /* libelf gives out one or the other of these when libdw asks for it. */
    data->d_buf = shown->d_buf = made;
    data->d_size = shown->d_size = head->ch_size;
    header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
    header.sh_size = head->ch_size;
    gelf_update_shdr(section, &header);
    return 0;
}

/* Whether the section `name` is DWARF that nothing here reads. */
static int is_unread(const char *name)
{
    if (strncmp(name, ".debug", 6) == 0)
        name += 6;
    else if (strncmp(name, ".zdebug", 7) == 0)
        name += 7;
    else
        return 0;
    for (size_t i = 0; i < sizeof unread / sizeof *unread; i++)
        if (strcmp(name, unread[i]) == 0)
            return 1;
    return 0;
}

void jr_sections_unpack(Elf *elf, const char *path,
                        struct jr_sections *unpacked)
{
    Elf_Scn *section = NULL;
    size_t names;
    int told = 0;

    if (elf_getshdrstrndx(elf, &names) < 0)
        return;
    while ((section = elf_nextscn(elf, section))) {
        unpack_fn *unpacker;
        GElf_Shdr header;
        GElf_Chdr head;
        const char *name;

        if (!gelf_getshdr(section, &header))
            continue;
        name = elf_strptr(elf, names, header.sh_name);
        if (name && is_unread(name)) {
            /* This changes the copy in memory alone. */
            header.sh_name = 0;
            gelf_update_shdr(section, &header);
            continue;
        }
        if (!(header.sh_flags & SHF_COMPRESSED) ||
            !gelf_getchdr(section, &head))
            continue;
        unpacker = unpacker_of(&head);
        if (unpacker && unpack(elf, section, &head, unpacker, unpacked) != 0 &&
            unpacker == unpack_zstd && !told++)
            jr_say("%s: a part of it that is packed by zstd is damaged, or "
                   "unpacks to too much",
                   path);
    }
}

void jr_sections_free(struct jr_sections *unpacked)
{
    for (size_t i = 0; i < unpacked->count; i++)
        free(unpacked->items[i]);
    free(unpacked->items);
    *unpacked = (struct jr_sections){0};
}
