/* SPDX-License-Identifier: MIT
 *
 * A stub jumps through a slot, and a relocation says whose slot it is.
 * Runs in: analyzer. */
#include "plt.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

#define STUB_SIZE 16 /* where the section does not say */

struct slot {
    uint64_t address;
    const char *name;
};

struct slots {
    struct slot *items;
    size_t count, room;
};

static int is_slot(GElf_Half machine, uint64_t type)
{
    if (machine == EM_X86_64)
        return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
}

/* Collects the slots that one relocation section fills. */
static void add_slots(Elf *elf, Elf_Scn *section, GElf_Half machine,
                      struct slots *slots)
{
    GElf_Shdr header, table;
    Elf_Scn *symbols;
    Elf_Data *data = elf_getdata(section, NULL), *names;
    size_t count;

    if (!data || !gelf_getshdr(section, &header) || header.sh_entsize == 0)
        return;
    symbols = elf_getscn(elf, header.sh_link);
    names = symbols ? elf_getdata(symbols, NULL) : NULL;
    if (!names || !gelf_getshdr(symbols, &table))
        return;
    count = data->d_size / header.sh_entsize;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        const char *name;

        if (!gelf_getrela(data, (int)i, &rela) ||
            !is_slot(machine, GELF_R_TYPE(rela.r_info)) ||
            GELF_R_SYM(rela.r_info) > INT32_MAX ||
            !gelf_getsym(names, (int)GELF_R_SYM(rela.r_info), &symbol))
            continue;
        name = elf_strptr(elf, table.sh_link, symbol.st_name);
        if (name && *name)
            *JR_PUSH(slots->items, slots->count, slots->room) =
                (struct slot){rela.r_offset, name};
    }
}

static int by_address(const void *one, const void *other)
{
    const struct slot *a = one, *b = other;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return strcmp(a->name, b->name);
}

static const char *name_of(const struct slots *slots, uint64_t address)
{
    const size_t from =
        JR_FIRST_NOT(slots->count, i, slots->items[i].address < address);

    if (from == slots->count || slots->items[from].address != address)
        return NULL;
    return slots->items[from].name;
}

/* The slot that the stub of x86-64 at `code` jumps through: an optional
 * endbr64 and bnd, then jmp *displacement(%rip).  0: no stub. */
static uint64_t x86_slot(const uint8_t *code, size_t size, uint64_t address)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t at = 0;
    int32_t displacement;

    if (size >= sizeof endbr && !memcmp(code, endbr, sizeof endbr))
        at = sizeof endbr;
    if (at < size && code[at] == 0xf2)
        at++;
    if (size < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
        return 0;
    memcpy(&displacement, code + at + 2, sizeof displacement);
    return address + at + 6 + (uint64_t)(int64_t)displacement;
}

/* The same for aarch64: an optional bti, then adrp x16 and ldr x17. */
static uint64_t arm_slot(const uint8_t *code, size_t size, uint64_t address)
{
    uint32_t word[3] = {0};
    uint64_t page;
    size_t at = 0;

    memcpy(word, code, size < sizeof word ? size : sizeof word);
    if (word[0] == 0xd503245f)
        at = 1;
    if ((word[at] & 0x9f00001f) != 0x90000010 ||
        (word[at + 1] & 0xffc003ff) != 0xf9400211)
        return 0;
    page = (word[at] >> 29 & 3) | (word[at] >> 3 & 0x1ffffc);
    page = (page ^ 0x100000) - 0x100000; /* 21 bits, signed */
    return ((address + 4 * at) & ~0xfffULL) + (page << 12) +
           ((uint64_t)word[at + 1] >> 10 & 0xfff) * 8;
}

struct plt {
    GElf_Half machine;
    const struct slots *slots;
    struct jr_strings *strings;
    struct jr_candidates *candidates;
    uint64_t bias;
};

static void add_stub(const struct plt *plt, const char *name, uint64_t address,
                     uint64_t size, uint64_t section_end)
{
    char *text = jr_printf("%s@plt", name);
    struct jr_candidates *candidates = plt->candidates;

    *JR_PUSH(candidates->items, candidates->count, candidates->room) =
        (struct jr_candidate){address + plt->bias,
                              size,
                              section_end + plt->bias,
                              jr_strings_add(plt->strings, text, strlen(text)),
                              STB_GLOBAL,
                              JR_IS_FUNCTION};
    free(text);
}

static void add_stubs(const struct plt *plt, Elf_Scn *section,
                      const GElf_Shdr *header)
{
    Elf_Data *data = elf_rawdata(section, NULL);
    int x86 = plt->machine == EM_X86_64;
    size_t step = x86 ? 8 : 4, stub = STUB_SIZE;

    if (!data || !data->d_buf)
        return;
    if (header->sh_entsize >= step && header->sh_entsize <= 64)
        stub = header->sh_entsize;
    for (size_t at = 0; at + step <= data->d_size; at += step) {
        const uint8_t *code = (const uint8_t *)data->d_buf + at;
        uint64_t address = header->sh_addr + at, slot;
        const char *name;

        slot = x86 ? x86_slot(code, data->d_size - at, address)
                   : arm_slot(code, data->d_size - at, address);
        name = slot ? name_of(plt->slots, slot) : NULL;
        if (name)
            add_stub(plt, name, address, stub,
                     header->sh_addr + header->sh_size);
    }
}

static int is_plt(const char *name)
{
    return !strcmp(name, ".plt") || !strcmp(name, ".plt.sec") ||
           !strcmp(name, ".plt.got");
}

void jr_plt_read(Dwfl_Module *module, struct jr_strings *strings,
                 struct jr_candidates *candidates)
{
    GElf_Ehdr ehdr;
    GElf_Shdr header;
    Dwarf_Addr bias;
    struct slots slots = {0};
    struct plt plt = {0, &slots, strings, candidates, 0};
    Elf *elf = dwfl_module_getelf(module, &bias);
    Elf_Scn *section = NULL;
    size_t names;

    if (!elf || !gelf_getehdr(elf, &ehdr) ||
        elf_getshdrstrndx(elf, &names) < 0 ||
        (ehdr.e_machine != EM_X86_64 && ehdr.e_machine != EM_AARCH64))
        return;
    plt.machine = ehdr.e_machine;
    plt.bias = bias;
    while ((section = elf_nextscn(elf, section))) {
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
            add_slots(elf, section, ehdr.e_machine, &slots);
    }
    if (slots.count)
        qsort(slots.items, slots.count, sizeof *slots.items, by_address);
    while ((section = elf_nextscn(elf, section))) {
        const char *name;

        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS)
            continue;
        name = elf_strptr(elf, names, header.sh_name);
        if (name && is_plt(name))
            add_stubs(&plt, section, &header);
    }
    free(slots.items);
}
