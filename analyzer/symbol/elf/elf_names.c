/* SPDX-License-Identifier: MIT
 *
 * From symbol tables to disjoint, named ranges.
 * Runs in: analyzer. */
#include "elf_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/search.h"
#include "plt.h"
#include "symbol/names/demangle.h"

#define SEGMENTS_MAX 65536U

/* The kind of a symbol that is in code; -1: it names none.  (A local label
 * would be a place inside a function.) */
static int kind_of(const GElf_Sym *symbol)
{
    const int type = GELF_ST_TYPE(symbol->st_info);

    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return JR_IS_FUNCTION;
    if (type != STT_NOTYPE && type != STT_OBJECT)
        return -1;
    if (symbol->st_size)
        return JR_IS_PIECE;
    return type == STT_NOTYPE && GELF_ST_BIND(symbol->st_info) == STB_GLOBAL
               ? JR_IS_LABEL
               : -1;
}

/* Finds the section of code that a symbol is in, or in a file without section
 * headers the segment.  Returns 0, or -1: it is in no code. */
static int find_code(Elf *elf, const GElf_Sym *symbol, GElf_Word section,
                     uint64_t *start, uint64_t *end)
{
    GElf_Shdr header;
    size_t count;

    if (elf_getshdrnum(elf, &count) == 0 && count > 0) {
        if (section >= SHN_LORESERVE ||
            !gelf_getshdr(elf_getscn(elf, section), &header) ||
            !(header.sh_flags & SHF_EXECINSTR))
            return -1;
        *start = header.sh_addr;
        *end = header.sh_addr + header.sh_size;
        return 0;
    }
    if (elf_getphdrnum(elf, &count) != 0)
        return -1;
    for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
        GElf_Phdr segment;

        if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            !(segment.p_flags & PF_X) || symbol->st_value < segment.p_vaddr ||
            symbol->st_value - segment.p_vaddr >= segment.p_filesz)
            continue;
        *start = segment.p_vaddr;
        *end = segment.p_vaddr + segment.p_filesz;
        return 0;
    }
    return -1;
}

/* Adds symbol `index` of the module when it names code; whatever it is, it may
 * tell a language. */
static void add_symbol(Dwfl_Module *module, int index,
                       struct jr_candidates *candidates, unsigned *languages)
{
    struct jr_candidate candidate;
    GElf_Sym symbol;
    GElf_Addr address;
    GElf_Word section;
    uint64_t code, end;
    Dwarf_Addr bias;
    Elf *elf;
    int kind;
    const char *name = dwfl_module_getsym_info(module, index, &symbol, &address,
                                               &section, &elf, &bias);

    if (!name || !*name || !elf)
        return;
    *languages |= jr_demangle_languages(name);
    kind = kind_of(&symbol);
    if (kind < 0 || section == SHN_UNDEF ||
        find_code(elf, &symbol, section, &code, &end) != 0 ||
        symbol.st_value < code || symbol.st_value >= end)
        return;
    /* A function descriptor's address is not that of its code; the symbol's
     * value, moved as its file was, is. */
    candidate.start = symbol.st_value + bias;
    candidate.size = symbol.st_size;
    candidate.section_end = end + bias;
    candidate.name = name;
    candidate.binding = GELF_ST_BIND(symbol.st_info);
    candidate.kind = (uint8_t)kind;
    *JR_PUSH(candidates->items, candidates->count, candidates->room) =
        candidate;
}

static size_t underscores(const char *name)
{
    return strspn(name, "_");
}

static int compare(size_t one, size_t other)
{
    return one < other ? -1 : one > other;
}

/* Negative when `a` is the better name of the two for one place. */
static int by_name(const struct jr_candidate *a, const struct jr_candidate *b)
{
    int order = a->kind - b->kind;

    if (!order)
        order = (a->binding == STB_LOCAL) - (b->binding == STB_LOCAL);
    if (!order)
        order = compare(underscores(a->name), underscores(b->name));
    if (!order)
        order = (a->binding == STB_WEAK) - (b->binding == STB_WEAK);
    if (!order)
        order = compare(strlen(a->name), strlen(b->name));
    return order ? order : strcmp(a->name, b->name);
}

/* Puts the candidates in order of their starts and keeps one a start: the best
 * name with the largest size that any had.
 * Only numbers are sorted, and each candidate is moved once. */
static void sort_and_drop_aliases(struct jr_candidates *candidates)
{
    struct jr_candidate *items = candidates->items, *chosen;
    struct jr_ordered *order = jr_alloc(candidates->count, sizeof *order);
    size_t kept = 0;

    for (size_t i = 0; i < candidates->count; i++)
        order[i] = (struct jr_ordered){items[i].start, i};
    jr_order(order, candidates->count);
    chosen = jr_realloc(NULL, candidates->count, sizeof *chosen);
    for (size_t i = 0; i < candidates->count; i++) {
        const struct jr_candidate *item = &items[order[i].index];
        struct jr_candidate *last = kept ? &chosen[kept - 1] : NULL;
        uint64_t size;

        if (!last || last->start != item->start) {
            chosen[kept++] = *item;
            continue;
        }
        size = last->size > item->size ? last->size : item->size;
        if (by_name(item, last) < 0)
            *last = *item;
        last->size = size;
    }
    free(order);
    free(items);
    *candidates = (struct jr_candidates){chosen, kept, candidates->count};
}

/* The last function of GCC's crtstuff.c, which has no size nor call-frame
 * information: a jump, in at most 16 bytes.  Behind it the program's own code
 * begins, of which not all may have symbols (GHC's local functions). */
#define CRT_LAST "frame_dummy"
#define CRT_LAST_MAX 16

/* Whether the candidate is a label inside code that has another name or begins
 * before it. */
static int is_inside(const struct jr_candidate *candidate, size_t open,
                     const struct jr_fdes *fdes)
{
    const struct jr_fde *fde;

    if (candidate->kind != JR_IS_LABEL)
        return 0;
    fde = jr_fdes_find(fdes, candidate->start);
    return open != 0 || (fde && fde->start != candidate->start);
}

/* Where the candidate `at` ends. */
static uint64_t end_of(const struct jr_candidates *candidates, size_t at,
                       const struct jr_fdes *fdes)
{
    const struct jr_candidate *candidate = &candidates->items[at];
    const struct jr_fde *fde, *next;
    uint64_t end = candidate->section_end;
    size_t next_at = at + 1;

    if (candidate->size) {
        if (candidate->size < end - candidate->start)
            end = candidate->start + candidate->size;
        return end;
    }
    while (next_at < candidates->count &&
           (candidates->items[next_at].kind > candidate->kind ||
            is_inside(&candidates->items[next_at], 0, fdes)))
        next_at++;
    if (next_at < candidates->count && candidates->items[next_at].start < end)
        end = candidates->items[next_at].start;
    if (strcmp(candidate->name, CRT_LAST) == 0 &&
        end - candidate->start > CRT_LAST_MAX)
        end = candidate->start + CRT_LAST_MAX;
    fde = jr_fdes_find(fdes, candidate->start);
    if (fde)
        return fde->end < end ? fde->end : end;
    /* Code of others that have no symbol (GHC's local functions). */
    next = jr_fdes_after(fdes, candidate->start);
    return next && next->start < end ? next->start : end;
}

/* Symbols that may still go on while later ones start inside them. */
struct nest {
    struct jr_name *open;
    size_t count, room;
    uint64_t done; /* all below has been given to a name */
    struct jr_names *names;
};

static void emit(struct nest *nest, uint64_t end)
{
    const struct jr_name *top = &nest->open[nest->count - 1];
    struct jr_names *names = nest->names;

    if (end <= nest->done)
        return;
    *JR_PUSH(names->items, names->count, names->room) =
        (struct jr_name){nest->done, end, top->name, NULL};
    nest->done = end;
}

/* Closes the symbols that end at or before `address`. */
static void close_until(struct nest *nest, uint64_t address)
{
    while (nest->count && nest->open[nest->count - 1].end <= address) {
        emit(nest, nest->open[nest->count - 1].end);
        nest->count--;
    }
}

void jr_names_choose(struct jr_candidates *candidates,
                     const struct jr_fdes *fdes, struct jr_names *names)
{
    struct nest nest = {.names = names};

    if (candidates->count == 0)
        return;
    sort_and_drop_aliases(candidates);
    for (size_t i = 0; i < candidates->count; i++) {
        const struct jr_candidate *candidate = &candidates->items[i];

        close_until(&nest, candidate->start);
        if (is_inside(candidate, nest.count, fdes))
            continue;
        if (nest.count)
            emit(&nest, candidate->start);
        nest.done = candidate->start;
        *JR_PUSH(nest.open, nest.count, nest.room) =
            (struct jr_name){candidate->start, end_of(candidates, i, fdes),
                             candidate->name, NULL};
    }
    close_until(&nest, UINT64_MAX);
    free(nest.open);
}

void jr_names_read(Dwfl_Module *module, const struct jr_fdes *fdes,
                   struct jr_strings *strings, struct jr_names *names)
{
    struct jr_candidates candidates = {0};
    int count = dwfl_module_getsymtab(module);

    for (int i = 1; i < count; i++)
        add_symbol(module, i, &candidates, &names->languages);
    jr_plt_read(module, strings, &candidates);
    jr_names_choose(&candidates, fdes, names);
    free(candidates.items);
}

struct jr_name *jr_names_find(const struct jr_names *names, uint64_t address)
{
    const size_t from =
        JR_FIRST_NOT(names->count, i, names->items[i].end <= address);

    if (from == names->count || names->items[from].start > address)
        return NULL;
    return &names->items[from];
}
