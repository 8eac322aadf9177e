/* SPDX-License-Identifier: MIT
 *
 * Walks .eh_frame.  Encodings are those of the Linux Standard Base, "DWARF
 * Extensions": low four bits the format, the next three what it is relative
 * to.
 * Runs in: analyzer. */
#include "fde.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "symbol/dwarf/named.h"

#define FORMAT_MASK 0x0f
#define RELATIVE_MASK 0x70

struct walker {
    const unsigned char *ident;
    Elf_Data *data;
    uint64_t address; /* of the section */
    uint64_t cie;     /* offset whose encoding this is: */
    uint8_t encoding;
    struct jr_fdes *fdes;
};

/* Bytes of a number in this encoding, 0 when it has no fixed size. */
static size_t width_of(const struct walker *walker, uint8_t encoding)
{
    switch (encoding & FORMAT_MASK) {
    case DW_EH_PE_absptr:
        return walker->ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
        return 2;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
        return 4;
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return 8;
    default:
        return 0;
    }
}

/* Reads the number of `width` bytes at `at`; signed formats are extended. */
static uint64_t read_number(const struct walker *walker, const uint8_t *at,
                            size_t width, uint8_t encoding)
{
    int little = walker->ident[EI_DATA] == ELFDATA2LSB;
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value = value << 8 | at[little ? width - 1 - i : i];
    if ((encoding & DW_EH_PE_signed) && width < 8 && value >> (width * 8 - 1))
        value |= UINT64_MAX << (width * 8);
    return value;
}

/* The encoding of code addresses that a CIE asks for; DW_EH_PE_omit when its
 * augmentation cannot be understood. */
static uint8_t encoding_of(const struct walker *walker, const Dwarf_CIE *cie)
{
    const uint8_t *at = cie->augmentation_data;
    const uint8_t *end = at ? at + cie->augmentation_data_size : at;
    const char *letter = cie->augmentation;

    if (*letter == '\0')
        return DW_EH_PE_absptr;
    if (*letter++ != 'z')
        return DW_EH_PE_omit;
    for (; *letter; letter++) {
        if (*letter == 'S' || *letter == 'B')
            continue;
        if (at >= end)
            return DW_EH_PE_omit;
        if (*letter == 'R')
            return *at;
        if (*letter == 'P') {
            size_t width = width_of(walker, *at);

            if (width == 0 || (size_t)(end - at) <= width)
                return DW_EH_PE_omit;
            at += width;
        } else if (*letter != 'L') {
            return DW_EH_PE_omit;
        }
        at++;
    }
    return DW_EH_PE_absptr;
}

/* Makes walker->encoding that of the CIE at `offset`. */
static void use_cie(struct walker *walker, uint64_t offset)
{
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;

    if (walker->cie == offset)
        return;
    walker->cie = offset;
    walker->encoding = DW_EH_PE_omit;
    if (offset < walker->data->d_size &&
        dwarf_next_cfi(walker->ident, walker->data, true, offset, &next,
                       &entry) == 0 &&
        dwarf_cfi_cie_p(&entry))
        walker->encoding = encoding_of(walker, &entry.cie);
}

static void add_fde(struct walker *walker, const Dwarf_FDE *fde)
{
    uint8_t relative;
    uint64_t start, length, end;
    size_t width;

    use_cie(walker, fde->CIE_pointer);
    relative = walker->encoding & RELATIVE_MASK;
    width = width_of(walker, walker->encoding);
    if (walker->encoding == DW_EH_PE_omit || width == 0 ||
        (walker->encoding & DW_EH_PE_indirect) ||
        (relative != DW_EH_PE_absptr && relative != DW_EH_PE_pcrel) ||
        (size_t)(fde->end - fde->start) < 2 * width)
        return;
    start = read_number(walker, fde->start, width, walker->encoding);
    length = read_number(walker, fde->start + width, width,
                         walker->encoding & ~DW_EH_PE_signed);
    if (relative == DW_EH_PE_pcrel)
        start += walker->address +
                 (uint64_t)(fde->start - (uint8_t *)walker->data->d_buf);
    if (length == 0 || __builtin_add_overflow(start, length, &end))
        return;
    *JR_PUSH(walker->fdes->items, walker->fdes->count, walker->fdes->room) =
        (struct jr_fde){start, end};
}

static void walk(struct walker *walker)
{
    Dwarf_CFI_Entry entry;
    Dwarf_Off offset = 0, next = 0;
    int result;

    while (offset < walker->data->d_size) {
        result = dwarf_next_cfi(walker->ident, walker->data, true, offset,
                                &next, &entry);
        if (result > 0 || next <= offset)
            return;
        if (result == 0 && !dwarf_cfi_cie_p(&entry))
            add_fde(walker, &entry.fde);
        offset = next;
    }
}

static int by_start(const void *one, const void *other)
{
    const struct jr_fde *a = one, *b = other;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

void jr_fdes_read(Elf *elf, struct jr_fdes *fdes)
{
    struct walker walker = {.fdes = fdes, .cie = UINT64_MAX};
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *name;

    walker.ident = (const unsigned char *)elf_getident(elf, NULL);
    if (!walker.ident)
        return;
    while ((name = jr_named_next(elf, &section, &header))) {
        if (strcmp(name, ".eh_frame") != 0)
            continue;
        walker.data = elf_rawdata(section, NULL);
        walker.address = header.sh_addr;
        if (walker.data && walker.data->d_buf)
            walk(&walker);
        break;
    }
    if (fdes->count)
        qsort(fdes->items, fdes->count, sizeof *fdes->items, by_start);
}

/* How many entries begin at or before `address`. */
static size_t begun(const struct jr_fdes *fdes, uint64_t address)
{
    return JR_FIRST_NOT(fdes->count, i, fdes->items[i].start <= address);
}

const struct jr_fde *jr_fdes_find(const struct jr_fdes *fdes, uint64_t address)
{
    const size_t count = begun(fdes, address);

    if (count == 0 || fdes->items[count - 1].end <= address)
        return NULL;
    return &fdes->items[count - 1];
}

const struct jr_fde *jr_fdes_after(const struct jr_fdes *fdes, uint64_t address)
{
    const size_t count = begun(fdes, address);

    return count < fdes->count ? &fdes->items[count] : NULL;
}
