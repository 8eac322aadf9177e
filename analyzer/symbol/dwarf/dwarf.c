/* SPDX-License-Identifier: MIT
 *
 * From an address to its unit, from there to its function, the calls that were
 * inlined there, and their names and lines.  All that an answer needs is kept
 * for the next: a unit's tree and its line table are read once.
 * Runs in: analyzer. */
#include "dwarf.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/table.h"
#include "lines.h"
#include "scopes.h"
#include "split.h"
#include "symbol/names/demangle.h"
#include "unit.h"

#define CHAIN_MAX 512 /* functions at one address */
#define NEAR_MAX 64   /* units that may overlap one place */
#define UNITS_MAX (1U << 22)
#define BUDGET_LEAST (1U << 24) /* steps; a byte of DWARF gives one more */

/* A stretch [start, end) of a unit's code. */
struct stretch {
    uint64_t start, end, reach; /* reach: the latest end up to here */
    uint32_t unit;
};

struct jr_dwarf {
    const char *path;
    struct jr_strings *strings;
    uint64_t bias; /* of DWARF's addresses to those of the ELF file */
    struct jr_dwarf_shared shared;
    struct jr_dwarf_split split;
    struct jr_unit *units;
    size_t nunits, units_room;
    struct stretch *stretches; /* by start */
    size_t nstretches, stretches_room;
    struct jr_table by_name; /* a string of DWARF to its index in names */
    const char **names;      /* demangled */
    size_t nnames, names_room;
    struct jr_frame frames[CHAIN_MAX]; /* the last answer */
    uint8_t told, told_damaged;
};

struct adding {
    struct jr_dwarf *dwarf;
    uint32_t unit;
};

static void add_stretch(void *data, uint64_t start, uint64_t end)
{
    const struct adding *adding = data;
    struct jr_dwarf *dwarf = adding->dwarf;

    *JR_PUSH(dwarf->stretches, dwarf->nstretches, dwarf->stretches_room) =
        (struct stretch){start, end, 0, adding->unit};
}

static int by_start(const void *one, const void *other)
{
    const struct stretch *a = one, *b = other;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    /* The first one is found first, as lookups go backwards: of a function that
     * several units have, linkers keep the first one's code, and all of them
     * describe it, each with its own lines. */
    return a->unit > b->unit ? -1 : a->unit < b->unit;
}

static void say_damaged(struct jr_dwarf *dwarf)
{
    if (dwarf->told_damaged)
        return;
    dwarf->told_damaged = 1;
    jr_say("%s: its DWARF is damaged, or of an unknown kind; some inlined "
           "functions and lines are missing",
           dwarf->path);
}

/* Finds the units that have code; their trees are not read. */
static void read_units(struct jr_dwarf *dwarf, Dwarf *debug)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die head;
    uint64_t reach = 0;
    uint8_t type;
    int found = 0;

    while (dwarf->nunits < UNITS_MAX &&
           (found = dwarf_get_units(debug, unit, &unit, NULL, &type, &head,
                                    NULL)) == 0) {
        struct adding adding = {dwarf, (uint32_t)dwarf->nunits};
        const size_t before = dwarf->nstretches;

        if (dwarf_tag(&head) == DW_TAG_invalid)
            say_damaged(dwarf);
        if (type == DW_UT_type || type == DW_UT_split_type)
            continue;
        jr_unit_ranges(&head, &dwarf->shared, add_stretch, &adding);
        if (dwarf->nstretches > before)
            *JR_PUSH(dwarf->units, dwarf->nunits, dwarf->units_room) =
                (struct jr_unit){.head = head, .shared = &dwarf->shared};
    }
    if (found < 0)
        say_damaged(dwarf);
    if (dwarf->nstretches)
        qsort(dwarf->stretches, dwarf->nstretches, sizeof *dwarf->stretches,
              by_start);
    for (size_t i = 0; i < dwarf->nstretches; i++) {
        if (dwarf->stretches[i].end > reach)
            reach = dwarf->stretches[i].end;
        dwarf->stretches[i].reach = reach;
    }
}

struct jr_dwarf *jr_dwarf_open(Dwarf *debug, uint64_t bias, const char *path,
                               const char *file, struct jr_strings *strings)
{
    Elf *elf = dwarf_getelf(debug);
    struct jr_dwarf *dwarf;
    size_t size = 0;
    const char *ident = elf ? elf_getident(elf, NULL) : NULL;

    if (!ident)
        return NULL;
    if (ident[EI_DATA] != ELFDATA2LSB) {
        jr_say("%s: its DWARF is not read, for its numbers begin with the "
               "highest byte",
               path);
        return NULL;
    }
    elf_rawfile(elf, &size);
    dwarf = jr_alloc(1, sizeof *dwarf);
    dwarf->path = path;
    dwarf->split.file = realpath(file, NULL);
    dwarf->strings = strings;
    dwarf->bias = bias;
    jr_live_read(&dwarf->shared.live, elf);
    jr_line_sections_find(&dwarf->shared.lines, elf);
    dwarf->shared.budget.left = BUDGET_LEAST + 4 * (uint64_t)size;
    read_units(dwarf, debug);
    if (dwarf->nunits == 0) {
        jr_dwarf_free(dwarf);
        return NULL;
    }
    return dwarf;
}

void jr_dwarf_free(struct jr_dwarf *dwarf)
{
    if (!dwarf)
        return;
    for (size_t i = 0; i < dwarf->nunits; i++)
        jr_unit_free(&dwarf->units[i]);
    free(dwarf->units);
    jr_live_free(&dwarf->shared.live);
    free(dwarf->stretches);
    free(dwarf->names);
    jr_split_free(&dwarf->split);
    jr_table_free(&dwarf->by_name);
    free(dwarf);
}

/* The name of a function that has no linkage name, with what it is in. */
static char *whole_name(struct jr_unit *unit, Dwarf_Die *declaration,
                        const char *name)
{
    char *around = jr_scopes_names(unit, declaration);
    char *whole = around ? jr_printf("%s%s", around, name) : NULL;

    free(around);
    return whole;
}

/* The shown form of a name, which is made once: of a linkage name, or of one
 * that functions in several classes may have, by their declarations. */
static const char *shown(struct jr_dwarf *dwarf, struct jr_unit *unit,
                         Dwarf_Die *declaration, const char *name)
{
    const uint32_t fresh = (uint32_t)dwarf->nnames;
    const uint32_t index =
        jr_table_put(&dwarf->by_name, (uintptr_t)name,
                     declaration ? (uintptr_t)declaration->addr : 0, fresh);
    char *made;

    if (index == fresh) {
        made = declaration ? whole_name(unit, declaration, name)
                           : jr_demangle(name, 0);
        if (made)
            name = made;
        *JR_PUSH(dwarf->names, dwarf->nnames, dwarf->names_room) =
            jr_strings_add(dwarf->strings, name, strlen(name));
        free(made);
    }
    return dwarf->names[index];
}

/* Names the frame as the entry of its function does.  What is around a function
 * that was not inlined is told by its symbol. */
static void take_name(struct jr_dwarf *dwarf, struct jr_unit *unit,
                      Dwarf_Die *entry, struct jr_frame *frame)
{
    Dwarf_Die declaration = *entry;
    int is_linkage = 0;
    const char *name = jr_lines_name(entry, &is_linkage);
    const int is_plain =
        !is_linkage && dwarf_tag(entry) == DW_TAG_inlined_subroutine;

    frame->first_line = jr_lines_first(entry);
    if (!name)
        return;
    if (is_plain)
        jr_scopes_declaration(&declaration);
    frame->name = shown(dwarf, unit, is_plain ? &declaration : NULL, name);
    if (is_linkage && strcmp(name, frame->name) != 0)
        frame->raw = jr_strings_add(dwarf->strings, name, strlen(name));
}

/* The calls that hold `address`, outermost first, into `chain`; returns how
 * many. */
static size_t collect(const struct jr_dwarf_function *function,
                      uint64_t address, const struct jr_dwarf_call **chain)
{
    size_t count = 0;

    for (size_t i = 0; i < function->ncalls && count < CHAIN_MAX - 1; i++) {
        const struct jr_dwarf_call *call = &function->calls[i];

        /* One in another call that does not hold the address cannot. */
        if (address >= call->start && address < call->end &&
            call->depth == count + 1)
            chain[count++] = call;
    }
    return count;
}

/* Makes the frames of `address` in a function, whose unit is known. */
static size_t answer(struct jr_dwarf *dwarf, struct jr_unit *unit,
                     struct jr_dwarf_function *function, uint64_t address)
{
    const struct jr_dwarf_call *chain[CHAIN_MAX];
    struct jr_frame *frame = dwarf->frames;
    size_t count;
    Dwarf_Die entry;

    jr_unit_calls(unit, function);
    count = collect(function, address, chain);
    *frame = (struct jr_frame){.kind = JR_FRAME_NATIVE};
    jr_lines_of_code(unit, address, dwarf->strings, frame);
    while (count > 0) {
        struct jr_frame *caller = frame + 1;

        if (!dwarf_offdie(unit->dwarf, chain[--count]->offset, &entry))
            break;
        /* Where its name is in a file that is missing, the caller stands for
         * it. */
        take_name(dwarf, unit, &entry, frame);
        if (!frame->name)
            continue;
        frame->inlined = 1;
        *caller = (struct jr_frame){.kind = JR_FRAME_NATIVE};
        jr_lines_of_call(unit, &entry, dwarf->strings, caller);
        frame = caller;
    }
    if (dwarf_offdie(unit->dwarf, function->offset, &entry))
        take_name(dwarf, unit, &entry, frame);
    return (size_t)(frame - dwarf->frames) + 1;
}

static void open_unit(struct jr_dwarf *dwarf, struct jr_unit *unit)
{
    if (unit->opened)
        return;
    unit->opened = 1;
    unit->tree = unit->head;
    jr_lines_open(unit);
    jr_split_find(&dwarf->split, dwarf->path, &unit->head, &unit->tree);
    unit->dwarf = dwarf_cu_getdwarf(unit->tree.cu);
    unit->damaged = jr_entries_open(&unit->entries, &unit->tree) != 0;
}

static void check_damage(struct jr_dwarf *dwarf, const struct jr_unit *unit)
{
    if (unit->damaged || unit->entries.damaged || unit->lines_damaged)
        say_damaged(dwarf);
}

/* Of functions that the linker made one (--icf), puts the one whose lines are
 * there into the last one's place, where it is found: of those that begin where
 * it does, the last one that is declared before its last line, in that line's
 * file.  (The first line may be an inlined function's.) */
static void keep_one(struct jr_dwarf *dwarf, struct jr_unit *unit,
                     struct jr_dwarf_function *last_one)
{
    struct jr_frame last = {0};
    struct jr_dwarf_function *function = last_one, *best = last_one, kept;
    uint32_t best_line = 0;

    jr_lines_of_code(unit, last_one->end - 1, dwarf->strings, &last);
    for (size_t i = 0; i < NEAR_MAX; i++, function--) {
        Dwarf_Die entry;
        const char *file;
        uint32_t line;

        if (function->start != best->start || function->end != best->end ||
            !jr_dwarf_step(&dwarf->shared.budget) ||
            !dwarf_offdie(unit->dwarf, function->offset, &entry))
            break;
        line = jr_lines_first(&entry);
        file = jr_lines_first_file(unit, &entry, dwarf->strings);
        if (line <= last.line && line > best_line &&
            (!file || file == last.file)) {
            best = function;
            best_line = line;
        }
        if (function == unit->functions)
            break;
    }
    kept = *best;
    *best = *last_one;
    *last_one = kept;
    last_one->kept = 1;
}

/* The frames of an address in a function of the unit; 0: it has none there. */
static size_t find_function(struct jr_dwarf *dwarf, struct jr_unit *unit,
                            uint64_t address)
{
    struct jr_dwarf_function *function = NULL;
    size_t count = 0;

    open_unit(dwarf, unit);
    if (!unit->damaged)
        function = jr_unit_function(unit, address);
    if (function && !function->kept && function > unit->functions &&
        function[-1].start == function->start &&
        function[-1].end == function->end)
        keep_one(dwarf, unit, function);
    if (function)
        count = answer(dwarf, unit, function, address);
    check_damage(dwarf, unit);
    return count;
}

/* The same where a unit has a line and no function, as that of assembly. */
static size_t find_line(struct jr_dwarf *dwarf, struct jr_unit *unit,
                        uint64_t address)
{
    dwarf->frames[0] = (struct jr_frame){.kind = JR_FRAME_NATIVE};
    jr_lines_of_code(unit, address, dwarf->strings, &dwarf->frames[0]);
    return dwarf->frames[0].file != NULL;
}

typedef size_t find_fn(struct jr_dwarf *dwarf, struct jr_unit *unit,
                       uint64_t address);

/* Asks the units that hold `address`, of which the first `count` stretches
 * begin at it or before, for the first answer. */
static size_t ask_units(struct jr_dwarf *dwarf, size_t count, uint64_t address,
                        find_fn *find)
{
    size_t found = 0;

    for (size_t i = 0; i < NEAR_MAX && count > 0 && found == 0; i++) {
        const struct stretch *stretch = &dwarf->stretches[--count];

        if (stretch->reach <= address)
            break;
        if (stretch->end > address)
            found = find(dwarf, &dwarf->units[stretch->unit], address);
    }
    return found;
}

static void say_exceeded(struct jr_dwarf *dwarf)
{
    if (!dwarf->shared.budget.exceeded || dwarf->told)
        return;
    dwarf->told = 1;
    jr_say("%s: its DWARF has more entries than it has room for; some inlined "
           "functions are missing",
           dwarf->path);
}

size_t jr_dwarf_find(struct jr_dwarf *dwarf, uint64_t elf_address,
                     const struct jr_frame **frames)
{
    const uint64_t address = elf_address - dwarf->bias;
    size_t from, count;

    from = JR_FIRST_NOT(dwarf->nstretches, i,
                        dwarf->stretches[i].start <= address);
    /* Ranges of units overlap at times, and one has the function. */
    count = ask_units(dwarf, from, address, find_function);
    if (count == 0)
        count = ask_units(dwarf, from, address, find_line);
    say_exceeded(dwarf);
    *frames = dwarf->frames;
    return count;
}
