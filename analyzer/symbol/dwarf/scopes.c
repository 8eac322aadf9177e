/* SPDX-License-Identifier: MIT
 *
 * DWARF does not tell what an entry is in: the tree is gone through from its
 * root, into those entries alone that the one asked for lies between.
 * Runs in: analyzer. */
#include "scopes.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lines.h"
#include "symbol/names/demangle.h"

#define NAME_SHOWN 1024 /* bytes of one of the names */
#define NESTED_MAX 4    /* functions in functions, each declared elsewhere */
#define LINKS_MAX 16    /* from an entry to what it is a copy of; usual are 2 */

/* Codes of languages that Debian 12's dwarf.h does not have, of the list that
 * is kept between the standards (dwarfstd.org/languages.html).  GCC 15 writes
 * those of C++. */
enum {
    ZIG = 0x27,
    HIP = 0x29,
    C_PLUS_PLUS_17 = 0x2a,
    C_PLUS_PLUS_20 = 0x2b,
    C_PLUS_PLUS_23 = 0x3a
};

/* Whether the unit of an entry is in a language with names within names. */
static int has_scopes(Dwarf_Die *root)
{
    Dwarf_Attribute attribute;
    Dwarf_Word language;

    if (!dwarf_attr(root, DW_AT_language, &attribute) ||
        dwarf_formudata(&attribute, &language) != 0)
        return 0;
    switch (language) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case DW_LANG_ObjC_plus_plus:
    case DW_LANG_D:
    case DW_LANG_Rust:
    case DW_LANG_Swift:
    case ZIG:
    case HIP:
    case C_PLUS_PLUS_17:
    case C_PLUS_PLUS_20:
    case C_PLUS_PLUS_23:
        return 1;
    default:
        return 0;
    }
}

void jr_scopes_declaration(Dwarf_Die *entry)
{
    static const unsigned links[] = {DW_AT_abstract_origin,
                                     DW_AT_specification};

    for (unsigned i = 0, found = 1; i < LINKS_MAX && found; i++) {
        found = 0;
        for (size_t j = 0; j < sizeof links / sizeof *links && !found; j++) {
            Dwarf_Attribute attribute;
            Dwarf_Die other;

            if (dwarf_attr(entry, links[j], &attribute) &&
                dwarf_formref_die(&attribute, &other)) {
                *entry = other;
                found = 1;
            }
        }
    }
}

/* Finds the entries around the one at `target`, outermost first, into
 * `around`.  Returns how many there are. */
static size_t find_around(struct jr_entries *entries, Dwarf_Off target,
                          struct jr_dwarf_budget *budget,
                          Dwarf_Die around[JR_ENTRIES_DEPTH_MAX])
{
    struct jr_entry entry;
    int more = jr_entries_first(entries, entries->root_offset, &entry);

    while (more == 0 && jr_dwarf_step(budget) &&
           entry.depth <= JR_ENTRIES_DEPTH_MAX) {
        const Dwarf_Off at = jr_entries_offset(entries, &entry);
        const uint8_t *place = entries->start + (target - entries->root_offset);

        if (at >= target)
            return at == target ? entry.depth - 1 : 0;
        around[entry.depth - 1] = jr_entries_die(entries, &entry);
        more = jr_entries_next(entries, &entry,
                               !entry.sibling || entry.sibling > place, budget);
    }
    return 0;
}

/* What an entry is called that others are in; NULL: it is no such one.  The
 * caller frees it. */
static char *type_name(Dwarf_Die *entry)
{
    int is_linkage;
    const char *name = jr_lines_name(entry, &is_linkage);
    const uint32_t line = jr_lines_first(entry);

    switch (dwarf_tag(entry)) {
    case DW_TAG_namespace:
        name = name ? name : "(anonymous namespace)";
        break;
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
        /* Those of lambdas differ by their lines. */
        if (!name && line)
            return jr_printf("(anonymous class:%" PRIu32 ")", line);
        name = name ? name : "(anonymous class)";
        break;
    default:
        return NULL;
    }
    return jr_printf("%.*s", NAME_SHOWN, name);
}

static char *names_around(struct jr_unit *unit, Dwarf_Die *declaration,
                          unsigned nested);

/* The whole name of a function that others are in, in place of the names so far
 * where it tells what it is in itself. */
static char *function_name(struct jr_unit *unit, const Dwarf_Die *entry,
                           unsigned nested, char **names)
{
    Dwarf_Die declaration = *entry;
    int is_linkage;
    const char *name = jr_lines_name(&declaration, &is_linkage);
    char *whole = name && is_linkage ? jr_demangle(name, 0) : NULL;
    char *around = NULL;

    jr_scopes_declaration(&declaration);
    if (!whole && declaration.addr != entry->addr && nested < NESTED_MAX)
        around = names_around(unit, &declaration, nested + 1);
    if (whole || around) {
        free(*names);
        *names = around;
    }
    return whole || !name ? whole : jr_printf("%.*s", NAME_SHOWN, name);
}

/* The names of the entries around one. */
static char *join_names(struct jr_unit *unit, Dwarf_Die *around, size_t count,
                        unsigned nested)
{
    char *names = NULL;

    for (size_t i = 0; i < count; i++) {
        char *name = dwarf_tag(&around[i]) == DW_TAG_subprogram
                         ? function_name(unit, &around[i], nested, &names)
                         : type_name(&around[i]);
        char *longer;

        if (!name)
            continue;
        longer = jr_printf("%s%s::", names ? names : "", name);
        free(name);
        free(names);
        names = longer;
        if (strlen(names) > JR_DEMANGLE_OUT_MAX)
            break;
    }
    return names;
}

/* nested: how many functions deep this was asked for. */
static char *names_around(struct jr_unit *unit, Dwarf_Die *declaration,
                          unsigned nested)
{
    Dwarf_Die *around, root;
    struct jr_entries others, *entries = &unit->entries;
    char *names = NULL;
    size_t count;

    if (!dwarf_diecu(declaration, &root, NULL, NULL))
        return NULL;
    /* What dwz moved is in a unit that does not tell the language. */
    if (!has_scopes(dwarf_tag(&root) == DW_TAG_partial_unit ? &unit->tree
                                                            : &root))
        return NULL;
    if (root.addr != entries->root.addr) {
        if (jr_entries_open(&others, &root) != 0)
            return NULL;
        entries = &others;
    }
    around = jr_alloc(JR_ENTRIES_DEPTH_MAX, sizeof *around);
    count = find_around(entries, dwarf_dieoffset(declaration),
                        &unit->shared->budget, around);
    names = join_names(unit, around, count, nested);
    free(around);
    if (entries == &others)
        jr_entries_close(&others);
    return names;
}

char *jr_scopes_names(struct jr_unit *unit, Dwarf_Die *declaration)
{
    return names_around(unit, declaration, 0);
}
