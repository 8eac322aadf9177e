/* SPDX-License-Identifier: MIT
 *
 * Tables of range lists (DWARF 5, 7.28): a unit says where its table begins;
 * its items are counted from there.
 * Runs in: analyzer. */
#include "range_lists.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#include "bytes.h"
#include "named.h"

#define LEB_MOST 10     /* bytes of a number */
#define WIDE UINT32_MAX /* the length that says: 64-bit DWARF */
#define HEAD_REST 8U    /* bytes of a table's head behind its length */

static int is_section(const char *name)
{
    return strcmp(name, ".debug_rnglists") == 0 ||
           strcmp(name, ".zdebug_rnglists") == 0 ||
           strcmp(name, ".debug_rnglists.dwo") == 0 ||
           strcmp(name, ".zdebug_rnglists.dwo") == 0;
}

static void find(struct jr_range_lists *lists, Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    const char *name;
    size_t count = 0;

    if (lists->dwarf == dwarf)
        return;
    *lists = (struct jr_range_lists){.dwarf = dwarf};
    while (elf && (name = jr_named_next(elf, &section, &header))) {
        const Elf_Data *data;

        if (!is_section(name))
            continue;
        data = elf_rawdata(section, NULL);
        /* Of several, libdw may take another one. */
        if (data && data->d_buf && count++ == 0) {
            lists->start = data->d_buf;
            lists->size = data->d_size;
        } else {
            lists->size = 0;
        }
    }
}

/* Where the items of the first table begin, behind its head; UINT64_MAX: it has
 * none, or no such head. */
static uint64_t first_table(const struct jr_range_lists *lists)
{
    const uint8_t *at = lists->start;
    unsigned size = 4;
    uint64_t begin = 4, length;

    if (lists->size < 4 + 8 + HEAD_REST)
        return UINT64_MAX;
    length = jr_bytes_number(at, 4);
    if (length == WIDE) {
        size = 8;
        begin = 4 + 8;
        length = jr_bytes_number(at + 4, 8);
    }
    at += begin;
    if (length < HEAD_REST || length > lists->size - begin ||
        jr_bytes_number(at, 2) != 5 || (at[2] != 4 && at[2] != 8) ||
        at[3] != 0 || jr_bytes_number(at + 4, 4) == 0 ||
        jr_bytes_number(at + 4, 4) * size > length - HEAD_REST)
        return UINT64_MAX;
    return begin + HEAD_REST;
}

/* Where the table of the unit of an entry begins: where it says so, else, as in
 * .dwo files, at the first table. */
static uint64_t table_of(const struct jr_range_lists *lists, Dwarf_Die *root)
{
    Dwarf_Attribute attribute;
    Dwarf_Word base;

    if (dwarf_attr(root, DW_AT_rnglists_base, &attribute) &&
        dwarf_formudata(&attribute, &base) == 0 && base != 0)
        return base;
    return first_table(lists);
}

int jr_range_lists_have(struct jr_range_lists *lists, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die root;
    uint64_t number = 0, base, at;
    uint8_t offset_size = 4;
    Dwarf_Half version = 0;

    if (!dwarf_attr(die, DW_AT_ranges, &attribute) ||
        dwarf_whatform(&attribute) != DW_FORM_rnglistx)
        return 1;
    /* Before version 5 libdw would look in another section. */
    if (!dwarf_diecu(die, &root, NULL, &offset_size) ||
        dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) !=
            0 ||
        version < 5 ||
        !jr_bytes_leb(attribute.valp, attribute.valp + LEB_MOST, &number))
        return 0;
    find(lists, dwarf_cu_getdwarf(die->cu));
    base = table_of(lists, &root);
    if (base > lists->size || number >= (lists->size - base) / offset_size)
        return 0;
    at = jr_bytes_number(lists->start + base + number * offset_size,
                         offset_size);
    return !__builtin_add_overflow(at, base, &at) && at < lists->size;
}
