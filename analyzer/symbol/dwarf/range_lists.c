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

#define LEB_MOST 10 /* bytes of a number */
/* Where the first table of a .dwo file begins, behind its head. */
#define FIRST_TABLE(offset_size) ((offset_size) == 8 ? 20U : 12U)

static int is_section(const char *name)
{
    return name && (strcmp(name, ".debug_rnglists") == 0 ||
                    strcmp(name, ".zdebug_rnglists") == 0 ||
                    strcmp(name, ".debug_rnglists.dwo") == 0);
}

static void find(struct jr_range_lists *lists, Dwarf *dwarf)
{
    Elf *elf = dwarf_getelf(dwarf);
    Elf_Scn *section = NULL;
    size_t names;

    if (lists->dwarf == dwarf)
        return;
    *lists = (struct jr_range_lists){.dwarf = dwarf};
    if (!elf || elf_getshdrstrndx(elf, &names) < 0)
        return;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const Elf_Data *data;

        if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
            !is_section(elf_strptr(elf, names, header.sh_name)))
            continue;
        data = elf_rawdata(section, NULL);
        if (data && data->d_buf) {
            lists->start = data->d_buf;
            lists->size = data->d_size;
        }
    }
}

/* Where the table of the unit of an entry begins. */
static uint64_t table_of(Dwarf_Die *die, unsigned offset_size)
{
    Dwarf_Attribute attribute;
    Dwarf_Die root;
    Dwarf_Word base;

    if (dwarf_diecu(die, &root, NULL, NULL) &&
        dwarf_attr(&root, DW_AT_rnglists_base, &attribute) &&
        dwarf_formudata(&attribute, &base) == 0)
        return base;
    return FIRST_TABLE(offset_size);
}

int jr_range_lists_have(struct jr_range_lists *lists, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die root;
    uint64_t number = 0, base, at;
    uint8_t offset_size = 4;

    if (!dwarf_attr(die, DW_AT_ranges, &attribute) ||
        dwarf_whatform(&attribute) != DW_FORM_rnglistx)
        return 1;
    if (!dwarf_diecu(die, &root, NULL, &offset_size) ||
        !jr_bytes_leb(attribute.valp, attribute.valp + LEB_MOST, &number))
        return 0;
    find(lists, dwarf_cu_getdwarf(die->cu));
    base = table_of(die, offset_size);
    if (base > lists->size || number >= (lists->size - base) / offset_size)
        return 0;
    at = jr_bytes_number(lists->start + base + number * offset_size,
                         offset_size);
    return !__builtin_add_overflow(at, base, &at) && at < lists->size;
}
