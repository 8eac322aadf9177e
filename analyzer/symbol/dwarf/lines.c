/* SPDX-License-Identifier: MIT
 *
 * What line tables, calls and functions say of themselves.
 * Runs in: analyzer. */
#include "lines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "texts.h"

#define PATH_SHOWN 4096 /* bytes; longer paths are no files */

/* The path of a file in a folder, which may be the root (LDC's). */
static char *joined(const char *folder, const char *name)
{
    const char *slash =
        folder[0] && folder[strlen(folder) - 1] == '/' ? "" : "/";

    return jr_printf("%s%s%.*s", folder, slash, PATH_SHOWN, name);
}

/* A path as it is shown: from the root on where the unit says in which folder
 * it was compiled. */
static const char *keep_path(const struct jr_unit *unit,
                             struct jr_strings *strings, const char *path)
{
    size_t length = path ? strnlen(path, PATH_SHOWN + 1) : 0;
    const char *kept;
    char *whole;

    if (length == 0 || length > PATH_SHOWN)
        return NULL;
    if (path[0] == '/' || !unit->folder)
        return jr_strings_add(strings, path, length);
    whole = joined(unit->folder, path);
    kept = jr_strings_add(strings, whole, strlen(whole));
    free(whole);
    return kept;
}

void jr_lines_open(struct jr_unit *unit)
{
    Dwarf_Attribute attribute;
    const char *folder =
        dwarf_formstring(dwarf_attr(&unit->head, DW_AT_comp_dir, &attribute));

    if (folder && folder[0] == '/' && strnlen(folder, PATH_SHOWN) < PATH_SHOWN)
        unit->folder = folder;
}

/* The last row at or before `address`; none where a sequence has ended. */
static Dwarf_Line *find_row(Dwarf_Lines *lines, size_t count, uint64_t address)
{
    size_t from = 0, to = count;
    Dwarf_Line *line;
    bool ends;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        Dwarf_Addr at;

        if (dwarf_lineaddr(dwarf_onesrcline(lines, middle), &at) != 0)
            return NULL;
        if (at <= address)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return NULL;
    line = dwarf_onesrcline(lines, from - 1);
    return dwarf_lineendsequence(line, &ends) == 0 && !ends ? line : NULL;
}

/* The unit's line table; NULL: only libdw may know what it is. */
static struct jr_line_table *table_of(struct jr_unit *unit)
{
    Dwarf_Attribute attribute;
    Dwarf_Word offset;
    int found = -1;

    if (!unit->lines_read) {
        unit->lines_read = 1;
        if (dwarf_attr(&unit->head, DW_AT_stmt_list, &attribute) &&
            dwarf_formudata(&attribute, &offset) == 0)
            found = jr_line_table_read(&unit->lines, unit->shared, offset,
                                       unit->folder);
        unit->lines_known = found >= 0;
        unit->lines_damaged = found > 0;
    }
    return unit->lines_known ? &unit->lines : NULL;
}

/* The path of a file of the table; NULL: it is not known. */
static const char *path_of(struct jr_unit *unit, uint32_t number,
                           struct jr_strings *strings)
{
    struct jr_line_file *file;
    char *path;

    if (number >= unit->lines.nfiles)
        return NULL;
    file = &unit->lines.files[number];
    if (file->shown || !file->name)
        return file->shown;
    if (!file->folder || file->name[0] == '/') {
        file->shown = keep_path(unit, strings, file->name);
    } else if (strnlen(file->folder, PATH_SHOWN) < PATH_SHOWN) {
        path = joined(file->folder, file->name);
        file->shown = keep_path(unit, strings, path);
        free(path);
    }
    return file->shown;
}

static uint32_t known_line(uint32_t line)
{
    return line <= INT32_MAX ? line : 0;
}

/* Takes lines from libdw, which does not tell code that the linker left out. */
static void code_by_libdw(struct jr_unit *unit, uint64_t address,
                          struct jr_strings *strings, struct jr_frame *frame)
{
    Dwarf_Lines *lines;
    Dwarf_Line *row;
    size_t count;
    int number;

    if (dwarf_getsrclines(&unit->head, &lines, &count) != 0)
        return;
    row = find_row(lines, count, address);
    if (!row)
        return;
    frame->file = keep_path(unit, strings, dwarf_linesrc(row, NULL, NULL));
    if (frame->file && dwarf_lineno(row, &number) == 0 && number > 0)
        frame->line = (uint32_t)number;
    if (frame->line && dwarf_linecol(row, &number) == 0 && number > 0)
        frame->column = (uint32_t)number;
}

void jr_lines_of_code(struct jr_unit *unit, uint64_t address,
                      struct jr_strings *strings, struct jr_frame *frame)
{
    const struct jr_line_table *table = table_of(unit);
    const struct jr_line_row *row;

    if (!table) {
        code_by_libdw(unit, address, strings, frame);
        return;
    }
    row = jr_line_rows_find(&table->rows, address);
    if (!row)
        return;
    frame->file = path_of(unit, row->file, strings);
    if (frame->file)
        frame->line = known_line(row->line);
    if (frame->line)
        frame->column = row->column;
}

/* A number that an entry has itself; 0: none. */
static uint32_t number_of(Dwarf_Die *entry, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;

    if (!dwarf_attr(entry, name, &attribute) ||
        dwarf_formudata(&attribute, &value) != 0 || value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

/* The path of a file that an entry of the unit's tree has by number. */
static const char *path_of_call(struct jr_unit *unit, uint32_t number,
                                struct jr_strings *strings)
{
    Dwarf_Files *files;
    size_t count;

    /* A tree of another file has files of its own. */
    if (unit->tree.addr == unit->head.addr && table_of(unit))
        return path_of(unit, number, strings);
    if (dwarf_getsrcfiles(&unit->tree, &files, &count) != 0 || number >= count)
        return NULL;
    return keep_path(unit, strings, dwarf_filesrc(files, number, NULL, NULL));
}

void jr_lines_of_call(struct jr_unit *unit, Dwarf_Die *entry,
                      struct jr_strings *strings, struct jr_frame *frame)
{
    const uint32_t file = number_of(entry, DW_AT_call_file);

    frame->file = path_of_call(unit, file, strings);
    if (!frame->file)
        return;
    frame->line = number_of(entry, DW_AT_call_line);
    frame->column = number_of(entry, DW_AT_call_column);
}

/* Where the entries of a unit end; NULL: that is not known.  Its head may say
 * that it is longer than the section. */
static const uint8_t *end_of(Dwarf_CU *unit)
{
    Dwarf_Half version;
    Dwarf_Die root;
    Dwarf_Off at, start, next;
    uint64_t signature;
    uint8_t type;
    size_t head, left;

    if (dwarf_cu_info(unit, &version, &type, &root, NULL, NULL, NULL, NULL) !=
        0)
        return NULL;
    at = dwarf_dieoffset(&root);
    start = at - dwarf_cuoffset(&root);
    /* DWARF 4's type units are in a section of their own. */
    if (dwarf_next_unit(dwarf_cu_getdwarf(unit), start, &next, &head, NULL,
                        NULL, NULL, NULL,
                        version < 5 && type == DW_UT_type ? &signature : NULL,
                        NULL) != 0 ||
        next < at || next - at > UINTPTR_MAX - (uintptr_t)root.addr)
        return NULL;
    left = jr_texts_left(dwarf_cu_getdwarf(unit), root.addr);
    return (const uint8_t *)root.addr + (next - at < left ? next - at : left);
}

/* The text that an attribute is.  libdw (0.188) gives out one of a unit's last
 * bytes whether it ends there or not, and one that begins where the unit ends.
 */
static const char *text_of(Dwarf_Attribute *attribute)
{
    if (dwarf_whatform(attribute) == DW_FORM_string) {
        const uint8_t *at = attribute->valp, *end = end_of(attribute->cu);

        if (!end || at >= end || !memchr(at, '\0', (size_t)(end - at)))
            return NULL;
    }
    return dwarf_formstring(attribute);
}

const char *jr_lines_name(Dwarf_Die *entry, int *is_linkage)
{
    static const unsigned names[] = {DW_AT_linkage_name,
                                     DW_AT_MIPS_linkage_name, DW_AT_name};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Dwarf_Attribute attribute;
        const char *name;

        /* It follows the abstract origin and the specification, 16 at most. */
        if (!dwarf_attr_integrate(entry, names[i], &attribute))
            continue;
        name = text_of(&attribute);
        /* GHC's linkage names are its labels, not what the source says. */
        if (names[i] == DW_AT_MIPS_linkage_name && name && name[0] != '_')
            continue;
        *is_linkage = names[i] != DW_AT_name;
        if (name && *name)
            return name;
    }
    return NULL;
}

uint32_t jr_lines_first(Dwarf_Die *entry)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line;

    if (!dwarf_attr_integrate(entry, DW_AT_decl_line, &attribute) ||
        dwarf_formudata(&attribute, &line) != 0 || line > UINT32_MAX)
        return 0;
    return (uint32_t)line;
}

const char *jr_lines_first_file(struct jr_unit *unit, Dwarf_Die *entry,
                                struct jr_strings *strings)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;

    if (!dwarf_attr_integrate(entry, DW_AT_decl_file, &attribute) ||
        attribute.cu != unit->tree.cu ||
        dwarf_formudata(&attribute, &number) != 0 || number > UINT32_MAX)
        return NULL;
    return path_of_call(unit, (uint32_t)number, strings);
}
