/* SPDX-License-Identifier: MIT
 *
 * Goes through the tree of a unit: once for where its functions are, passing
 * over what is in them, and once through each function that is asked for.
 * Runs in: analyzer. */
#include "unit.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"

#define RANGES_MAX 65536 /* of one entry; a unit of LTO has thousands */
#define NEAR_MAX 64      /* functions that may overlap one place */

void jr_unit_ranges(Dwarf_Die *die, struct jr_dwarf_shared *shared,
                    jr_dwarf_take *take, void *data)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t at = 0;

    if (!jr_range_lists_have(&shared->ranges, die))
        return;
    for (unsigned i = 0; i < RANGES_MAX && jr_dwarf_step(&shared->budget);
         i++) {
        at = dwarf_ranges(die, at, &base, &start, &end);
        if (at <= 0)
            return;
        if (start < end && jr_live_has(&shared->live, start))
            take(data, start, end);
    }
}

/* The same for an entry on the way through a tree. */
static void entry_ranges(const struct jr_unit *unit,
                         const struct jr_entry *entry, jr_dwarf_take *take,
                         void *data)
{
    Dwarf_Die die;

    if (!entry->has_code)
        return;
    if (entry->is_plain) {
        if (entry->low < entry->high &&
            jr_live_has(&unit->shared->live, entry->low))
            take(data, entry->low, entry->high);
        return;
    }
    die = jr_entries_die(&unit->entries, entry);
    jr_unit_ranges(&die, unit->shared, take, data);
}

/* Whether functions may be in such an entry.  Types hold most of a tree, and
 * nearly all functions are outside of them and of other functions. */
static int is_entered(int tag, int deep)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
        return 1;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
        return deep;
    default:
        return 0;
    }
}

struct indexing {
    struct jr_unit *unit;
    Dwarf_Off offset;
};

static void add_function(void *data, uint64_t start, uint64_t end)
{
    struct indexing *indexing = data;
    struct jr_unit *unit = indexing->unit;

    *JR_PUSH(unit->functions, unit->nfunctions, unit->functions_room) =
        (struct jr_dwarf_function){
            .start = start, .end = end, .offset = indexing->offset};
}

static int by_start(const void *one, const void *other)
{
    const struct jr_dwarf_function *a = one, *b = other;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    /* The shorter one is found first, as lookups go backwards. */
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->offset < b->offset ? 1 : a->offset > b->offset ? -1 : 0;
}

static void forget_functions(struct jr_unit *unit)
{
    for (size_t i = 0; i < unit->nfunctions; i++)
        free(unit->functions[i].calls);
    unit->nfunctions = 0;
}

/* Whether blocks of functions are outside of the code that the functions say
 * is theirs, as in what GHC writes: each has only its first block. */
static int has_blocks_apart(struct jr_unit *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word language;

    return dwarf_attr(&unit->tree, DW_AT_language, &attribute) &&
           dwarf_formudata(&attribute, &language) == 0 &&
           language == DW_LANG_Haskell;
}

/* Finds the functions of the unit, with `deep` those that are in others. */
static void index_functions(struct jr_unit *unit, int deep)
{
    struct jr_dwarf_budget *budget = &unit->shared->budget;
    struct jr_entries *entries = &unit->entries;
    struct indexing indexing = {.unit = unit};
    const int blocks = deep && has_blocks_apart(unit);
    struct jr_entry entry;
    int more = jr_entries_first(entries, entries->root_offset, &entry);

    forget_functions(unit);
    while (more == 0 && jr_dwarf_step(budget)) {
        if (entry.tag == DW_TAG_subprogram)
            indexing.offset = jr_entries_offset(entries, &entry);
        if (entry.tag == DW_TAG_subprogram ||
            (blocks && indexing.offset && entry.tag == DW_TAG_lexical_block))
            entry_ranges(unit, &entry, add_function, &indexing);
        more = jr_entries_next(entries, &entry, is_entered(entry.tag, deep),
                               budget);
    }
    if (unit->nfunctions)
        qsort(unit->functions, unit->nfunctions, sizeof *unit->functions,
              by_start);
    unit->indexed = 1;
    unit->deep = (uint8_t)deep;
}

/* The function with the latest start that holds `address`. */
static struct jr_dwarf_function *find(const struct jr_unit *unit,
                                      uint64_t address)
{
    size_t from =
        JR_FIRST_NOT(unit->nfunctions, i, unit->functions[i].start <= address);

    for (size_t i = 0; i < NEAR_MAX && from > 0; i++)
        if (unit->functions[--from].end > address)
            return &unit->functions[from];
    return NULL;
}

struct jr_dwarf_function *jr_unit_function(struct jr_unit *unit,
                                           uint64_t address)
{
    struct jr_dwarf_function *found;

    if (!unit->indexed)
        index_functions(unit, 0);
    found = find(unit, address);
    if (found || unit->deep)
        return found;
    index_functions(unit, 1);
    return find(unit, address);
}

struct inlining {
    struct jr_dwarf_function *function;
    Dwarf_Off offset;
    uint32_t depth;
};

/* Keeps the part of a call's code that is in this stretch of its function. */
static void add_call(void *data, uint64_t start, uint64_t end)
{
    const struct inlining *inlining = data;
    struct jr_dwarf_function *function = inlining->function;

    if (start < function->start)
        start = function->start;
    if (end > function->end)
        end = function->end;
    if (start < end)
        *JR_PUSH(function->calls, function->ncalls, function->calls_room) =
            (struct jr_dwarf_call){start, end, inlining->offset,
                                   inlining->depth};
}

void jr_unit_calls(struct jr_unit *unit, struct jr_dwarf_function *function)
{
    struct jr_dwarf_budget *budget = &unit->shared->budget;
    /* By the depth of an entry: how many calls it is in. */
    uint32_t depths[JR_ENTRIES_DEPTH_MAX + 2] = {0};
    struct jr_entries *entries = &unit->entries;
    struct inlining inlining = {.function = function};
    struct jr_entry entry;
    int more;

    if (function->looked_up)
        return;
    function->looked_up = 1;
    more = jr_entries_first(entries, function->offset, &entry);
    while (more == 0 && jr_dwarf_step(budget)) {
        const int is_call = entry.tag == DW_TAG_inlined_subroutine;
        const unsigned depth = entry.depth;

        if (is_call) {
            inlining.offset = jr_entries_offset(entries, &entry);
            inlining.depth = depths[depth] + 1;
            entry_ranges(unit, &entry, add_call, &inlining);
        }
        depths[depth + 1] = depths[depth] + (uint32_t)is_call;
        /* A function within this one is another. */
        more = jr_entries_next(
            entries, &entry,
            entry.tag != DW_TAG_subprogram && is_entered(entry.tag, 1), budget);
    }
}

void jr_unit_free(struct jr_unit *unit)
{
    forget_functions(unit);
    free(unit->functions);
    unit->functions = NULL;
    jr_entries_close(&unit->entries);
    jr_line_table_free(&unit->lines);
}
