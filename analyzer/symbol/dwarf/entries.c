/* SPDX-License-Identifier: MIT
 *
 * Passes over entries of DWARF 2 to 5 by the forms of their attributes (DWARF
 * 5, 7.5.3 and 7.5.6).  What the bytes are in is a section of a file that libdw
 * has checked no further than its unit's length: each step looks at the end.
 * Runs in: analyzer. */
#include "entries.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bytes.h"

#define CODES_MAX (1U << 20) /* abbreviations of a unit */
#define ATTRIBUTES_MAX 256U  /* of one abbreviation */

enum step_kind { FIXED, LEB, TEXT, BLOCK1, BLOCK2, BLOCK4, BLOCK, INDIRECT };
enum role { NOTHING, SIBLING, LOW, HIGH };

/* Attributes to pass over: `size` bytes, or what the kind says. */
struct step {
    uint8_t kind, role;
    uint16_t size;
};

struct jr_entry_shape {
    int tag;
    uint8_t has_children, has_code, is_plain;
    uint32_t nsteps;
    struct step steps[];
};

int jr_dwarf_steps(struct jr_dwarf_budget *budget, uint64_t count)
{
    if (count > budget->left) {
        budget->exceeded = 1;
        return 0;
    }
    budget->left -= count;
    return 1;
}

int jr_dwarf_step(struct jr_dwarf_budget *budget)
{
    return jr_dwarf_steps(budget, 1);
}

/* What a form takes.  Returns 0, or -1 for one that is not known. */
static int step_of(const struct jr_entries *entries, unsigned form,
                   struct step *step)
{
    static const struct {
        uint16_t form;
        uint8_t kind, size;
    } known[] = {
        {DW_FORM_data1, FIXED, 1},        {DW_FORM_data2, FIXED, 2},
        {DW_FORM_data4, FIXED, 4},        {DW_FORM_data8, FIXED, 8},
        {DW_FORM_data16, FIXED, 16},      {DW_FORM_flag, FIXED, 1},
        {DW_FORM_flag_present, FIXED, 0}, {DW_FORM_implicit_const, FIXED, 0},
        {DW_FORM_ref1, FIXED, 1},         {DW_FORM_ref2, FIXED, 2},
        {DW_FORM_ref4, FIXED, 4},         {DW_FORM_ref8, FIXED, 8},
        {DW_FORM_ref_sig8, FIXED, 8},     {DW_FORM_ref_sup4, FIXED, 4},
        {DW_FORM_ref_sup8, FIXED, 8},     {DW_FORM_strx1, FIXED, 1},
        {DW_FORM_strx2, FIXED, 2},        {DW_FORM_strx3, FIXED, 3},
        {DW_FORM_strx4, FIXED, 4},        {DW_FORM_addrx1, FIXED, 1},
        {DW_FORM_addrx2, FIXED, 2},       {DW_FORM_addrx3, FIXED, 3},
        {DW_FORM_addrx4, FIXED, 4},       {DW_FORM_sdata, LEB, 0},
        {DW_FORM_udata, LEB, 0},          {DW_FORM_ref_udata, LEB, 0},
        {DW_FORM_strx, LEB, 0},           {DW_FORM_addrx, LEB, 0},
        {DW_FORM_loclistx, LEB, 0},       {DW_FORM_rnglistx, LEB, 0},
        {DW_FORM_GNU_addr_index, LEB, 0}, {DW_FORM_GNU_str_index, LEB, 0},
        {DW_FORM_string, TEXT, 0},        {DW_FORM_block1, BLOCK1, 0},
        {DW_FORM_block2, BLOCK2, 0},      {DW_FORM_block4, BLOCK4, 0},
        {DW_FORM_block, BLOCK, 0},        {DW_FORM_exprloc, BLOCK, 0},
        {DW_FORM_indirect, INDIRECT, 0},
    };

    *step = (struct step){.kind = FIXED};
    switch (form) {
    case DW_FORM_addr:
        step->size = entries->address_size;
        return 0;
    case DW_FORM_ref_addr:
        step->size = entries->version == 2 ? entries->address_size
                                           : entries->offset_size;
        return 0;
    case DW_FORM_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        step->size = entries->offset_size;
        return 0;
    default:
        break;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].form == form) {
            step->kind = known[i].kind;
            step->size = known[i].size;
            return 0;
        }
    return -1;
}

/* What an attribute is for; numbers are read of some bytes at once. */
static uint8_t role_of(unsigned name, unsigned form, const struct step *step)
{
    const int is_number = step->kind == FIXED && step->size > 0 &&
                          step->size <= 8 &&
                          (step->size & (step->size - 1)) == 0;

    if (name == DW_AT_sibling && is_number && form != DW_FORM_ref_addr)
        return SIBLING;
    if (name == DW_AT_low_pc && form == DW_FORM_addr && is_number)
        return LOW;
    if (name == DW_AT_high_pc && is_number && form != DW_FORM_addr)
        return HIGH;
    return NOTHING;
}

static struct jr_entry_shape *read_shape(const struct jr_entries *entries,
                                         Dwarf_Abbrev *abbreviation)
{
    struct jr_entry_shape *shape;
    unsigned name, form, found = 0;

    shape = jr_alloc(1, sizeof *shape + ATTRIBUTES_MAX * sizeof *shape->steps);
    shape->tag = (int)dwarf_getabbrevtag(abbreviation);
    shape->has_children = dwarf_abbrevhaschildren(abbreviation) != 0;
    /* dwarf_getattrcnt does not count right where an abbreviation has values
     * itself (elfutils 0.188). */
    for (size_t i = 0; dwarf_getabbrevattr_data(abbreviation, i, &name, &form,
                                                NULL, NULL) == 0;
         i++) {
        struct step step, *last;

        if (i == ATTRIBUTES_MAX || step_of(entries, form, &step) != 0) {
            free(shape);
            return NULL;
        }
        shape->has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
        if (name == DW_AT_ranges)
            found |= 1U << NOTHING;
        step.role = role_of(name, form, &step);
        found |= step.role ? 1U << step.role : 0;
        last = shape->nsteps ? &shape->steps[shape->nsteps - 1] : NULL;
        if (last && step.kind == FIXED && last->kind == FIXED &&
            step.role == NOTHING && last->role == NOTHING)
            last->size = (uint16_t)(last->size + step.size);
        else
            shape->steps[shape->nsteps++] = step;
    }
    shape->is_plain = (found & ~(1U << SIBLING)) == (1U << LOW | 1U << HIGH);
    return jr_realloc(shape, 1,
                      sizeof *shape + shape->nsteps * sizeof *shape->steps);
}

int jr_entries_open(struct jr_entries *entries, Dwarf_Die *root)
{
    Dwarf *dwarf = dwarf_cu_getdwarf(root->cu);
    const Dwarf_Off offset = dwarf_dieoffset(root);
    const Dwarf_Off unit = offset - dwarf_cuoffset(root);
    Dwarf_Die same, last;
    Dwarf_Half version;
    Dwarf_Off next;
    size_t head;

    *entries = (struct jr_entries){
        .root = *root, .root_offset = offset, .unit_offset = unit};
    if (dwarf_cu_info(root->cu, &version, NULL, NULL, NULL, NULL,
                      &entries->address_size, &entries->offset_size) != 0 ||
        dwarf_next_unit(dwarf, unit, &next, &head, NULL, NULL, NULL, NULL, NULL,
                        NULL) != 0 ||
        next <= offset ||
        /* DWARF 4's type units are in a section of their own, in which offsets
         * are others. */
        !dwarf_offdie(dwarf, offset, &same) || same.addr != root->addr ||
        /* This fails where the unit says that it is longer than the section. */
        !dwarf_offdie(dwarf, next - 1, &last))
        return -1;
    entries->version = (uint8_t)version;
    entries->start = root->addr;
    entries->end = entries->start + (next - offset);
    return 0;
}

void jr_entries_close(struct jr_entries *entries)
{
    for (size_t i = 0; i < entries->nshapes; i++)
        free(entries->shapes[i]);
    free(entries->shapes);
    entries->shapes = NULL;
    entries->nshapes = 0;
}

Dwarf_Off jr_entries_offset(const struct jr_entries *entries,
                            const struct jr_entry *entry)
{
    return entries->root_offset + (Dwarf_Off)(entry->at - entries->start);
}

Dwarf_Die jr_entries_die(const struct jr_entries *entries,
                         const struct jr_entry *entry)
{
    return (Dwarf_Die){.addr = (void *)entry->at, .cu = entries->root.cu};
}

/* Where an attribute ends that begins at `at`; NULL: not before `end`. */
static const uint8_t *pass_attribute(const struct step *step, const uint8_t *at,
                                     const uint8_t *end)
{
    static const uint8_t sizes[] = {
        [BLOCK1] = 1, [BLOCK2] = 2, [BLOCK4] = 4, [BLOCK] = 0};
    uint64_t size = step->size;

    switch (step->kind) {
    case LEB:
        return jr_bytes_leb(at, end, &size);
    case TEXT:
        at = memchr(at, '\0', (size_t)(end - at));
        return at ? at + 1 : NULL;
    case BLOCK1:
    case BLOCK2:
    case BLOCK4:
        if (end - at < sizes[step->kind])
            return NULL;
        size = jr_bytes_number(at, sizes[step->kind]);
        at += sizes[step->kind];
        break;
    case BLOCK:
        at = jr_bytes_leb(at, end, &size);
        if (!at)
            return NULL;
        break;
    default:
        break;
    }
    return (uint64_t)(end - at) < size ? NULL : at + size;
}

/* The same of an attribute that has its form in front of its value, as Zig
 * writes constants.  A form that leads to a further one, or whose value is in
 * the abbreviation, makes no sense there. */
static const uint8_t *pass_indirect(const struct jr_entries *entries,
                                    const uint8_t *at, const uint8_t *end)
{
    struct step step;
    uint64_t form;

    at = jr_bytes_leb(at, end, &form);
    if (!at || form > UINT16_MAX || form == DW_FORM_indirect ||
        form == DW_FORM_implicit_const ||
        step_of(entries, (unsigned)form, &step) != 0)
        return NULL;
    return pass_attribute(&step, at, end);
}

/* The shape with this code, which libdw decodes at the first entry with it. */
static const struct jr_entry_shape *shape_of(struct jr_entries *entries,
                                             uint64_t code, const uint8_t *at)
{
    if (code >= CODES_MAX)
        return NULL;
    if (code >= entries->nshapes) {
        size_t wanted = entries->nshapes ? entries->nshapes : 256;

        while (wanted <= code)
            wanted *= 2;
        entries->shapes =
            jr_realloc(entries->shapes, wanted, sizeof *entries->shapes);
        memset(entries->shapes + entries->nshapes, 0,
               (wanted - entries->nshapes) * sizeof *entries->shapes);
        entries->nshapes = wanted;
    }
    if (!entries->shapes[code]) {
        Dwarf_Die die = {.addr = (void *)at, .cu = entries->root.cu};

        if (dwarf_tag(&die) == DW_TAG_invalid || !die.abbrev)
            return NULL;
        entries->shapes[code] = read_shape(entries, die.abbrev);
    }
    return entries->shapes[code];
}

/* Reads the entry at entry->at.  Returns 1, 0 for the zero at the end of a list
 * of children, or -1. */
static int read_entry(struct jr_entries *entries, struct jr_entry *entry)
{
    const struct jr_entry_shape *shape;
    const uint8_t *at = entry->at, *from;
    uint64_t code, sibling;

    at = jr_bytes_leb(at, entries->end, &code);
    entry->next = at;
    if (!at || code == 0)
        return at ? 0 : -1;
    shape = shape_of(entries, code, entry->at);
    if (!shape)
        return -1;
    entry->sibling = NULL;
    for (uint32_t i = 0; i < shape->nsteps; i++) {
        const struct step *step = &shape->steps[i];

        from = at;
        at = step->kind == INDIRECT ? pass_indirect(entries, at, entries->end)
                                    : pass_attribute(step, at, entries->end);
        if (!at)
            return -1;
        if (step->role == LOW) {
            entry->low = jr_bytes_number(from, step->size);
        } else if (step->role == HIGH) {
            entry->high = jr_bytes_number(from, step->size);
        } else if (step->role == SIBLING) {
            /* Counted from the unit's head. */
            sibling = jr_bytes_number(from, step->size) + entries->unit_offset;
            if (sibling > entries->root_offset &&
                sibling - entries->root_offset <
                    (uint64_t)(entries->end - entries->start))
                entry->sibling =
                    entries->start + (sibling - entries->root_offset);
        }
    }
    entry->next = at;
    entry->tag = shape->tag;
    entry->has_children = shape->has_children;
    entry->has_code = shape->has_code;
    entry->is_plain = shape->is_plain;
    if (shape->is_plain &&
        __builtin_add_overflow(entry->low, entry->high, &entry->high))
        entry->is_plain = entry->has_code = 0;
    return 1;
}

/* Goes on to the entry at `at`, up where lists end. */
static int settle(struct jr_entries *entries, struct jr_entry *entry,
                  const uint8_t *at)
{
    int found;

    for (;;) {
        entry->at = at;
        found = at < entries->end ? read_entry(entries, entry) : -1;
        if (found < 0 && at < entries->end)
            entries->damaged = 1;
        if (found != 0)
            return found > 0 ? 0 : -1;
        if (--entry->depth == 0)
            return -1;
        at = entry->next;
    }
}

int jr_entries_first(struct jr_entries *entries, Dwarf_Off offset,
                     struct jr_entry *entry)
{
    *entry = (struct jr_entry){0};
    if (offset < entries->root_offset ||
        offset - entries->root_offset >=
            (uint64_t)(entries->end - entries->start))
        return -1;
    entry->at = entries->start + (offset - entries->root_offset);
    if (read_entry(entries, entry) != 1) {
        entries->damaged = 1;
        return -1;
    }
    if (!entry->has_children)
        return -1;
    entry->depth = 1;
    return settle(entries, entry, entry->next);
}

/* Passes over all that is below an entry whose sibling is not said. */
static int pass_children(struct jr_entries *entries, struct jr_entry *entry,
                         struct jr_dwarf_budget *budget)
{
    unsigned level = 1;

    while (level > 0) {
        int found;

        entry->at = entry->next;
        if (entry->at >= entries->end || !jr_dwarf_step(budget))
            return -1;
        found = read_entry(entries, entry);
        if (found < 0) {
            entries->damaged = 1;
            return -1;
        }
        if (found == 0)
            level--;
        else if (entry->sibling > entry->next)
            entry->next = entry->sibling;
        else
            level += entry->has_children;
    }
    return 0;
}

int jr_entries_next(struct jr_entries *entries, struct jr_entry *entry,
                    int entered, struct jr_dwarf_budget *budget)
{
    if (!entry->has_children)
        return settle(entries, entry, entry->next);
    if (entered && entry->depth < JR_ENTRIES_DEPTH_MAX) {
        entry->depth++;
        return settle(entries, entry, entry->next);
    }
    if (entry->sibling && entry->sibling > entry->next)
        return settle(entries, entry, entry->sibling);
    if (pass_children(entries, entry, budget) != 0)
        return -1;
    return settle(entries, entry, entry->next);
}
