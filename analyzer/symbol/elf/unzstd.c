/* SPDX-License-Identifier: MIT
 *
 * ELFCOMPRESS_ZSTD of the ELF gABI: the head of a packed section, then frames
 * of Zstandard (RFC 8878).
 * Runs in: analyzer. */
#include "unzstd.h"

#include <gelf.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/diag.h"
#include "base/mem.h"
#include "packed.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* Unpacks one section.  Returns 0, or -1 when its bytes are no such thing. */
static int unpack(Elf *elf, Elf_Scn *section, const GElf_Chdr *head,
                  struct jr_unzstd *unpacked)
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
    made = jr_alloc(head->ch_size ? head->ch_size : 1, 1);
    if (ZSTD_decompress(made, head->ch_size, (char *)data->d_buf + start,
                        data->d_size - start) != head->ch_size) {
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

void jr_unzstd(Elf *elf, const char *path, struct jr_unzstd *unpacked)
{
    Elf_Scn *section = NULL;
    int told = 0;

    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        GElf_Chdr head;

        if (!gelf_getshdr(section, &header) ||
            !(header.sh_flags & SHF_COMPRESSED) ||
            !gelf_getchdr(section, &head) || head.ch_type != ELFCOMPRESS_ZSTD)
            continue;
        if (unpack(elf, section, &head, unpacked) != 0 && !told++)
            jr_say("%s: a part of it that is packed by zstd is damaged, or "
                   "unpacks to "
                   "too much",
                   path);
    }
}

void jr_unzstd_free(struct jr_unzstd *unpacked)
{
    for (size_t i = 0; i < unpacked->count; i++)
        free(unpacked->items[i]);
    free(unpacked->items);
    *unpacked = (struct jr_unzstd){0};
}
