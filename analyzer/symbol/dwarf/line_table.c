/* SPDX-License-Identifier: MIT
 *
 * Heads of line tables (DWARF 5, 6.2.4), of versions 2 to 5.  What they are in
 * is untrusted: each read looks at the end.
 * Runs in: analyzer. */
#include "line_table.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "bytes.h"

#define FORMS_MAX 16 /* what a file may say of itself; DWARF 5 has 5 */

/* What is being read, and up to where; at: NULL after what made no sense. */
struct reading {
    const struct jr_line_sections *sections;
    struct jr_line_table *table;
    const uint8_t *at, *end;
    unsigned version;
    uint8_t offset_size;
    uint8_t is_strange; /* what made no sense may be of a kind not known here */
};

/* Ends the reading of a table that libdw may know. */
static void find_strange(struct reading *reading)
{
    reading->at = NULL;
    reading->is_strange = 1;
}

static uint64_t take_number(struct reading *reading, size_t size)
{
    const uint8_t *at = reading->at;

    if (!at || (size_t)(reading->end - at) < size) {
        reading->at = NULL;
        return 0;
    }
    reading->at += size;
    return jr_bytes_number(at, size);
}

static uint64_t take_leb(struct reading *reading)
{
    uint64_t value = 0;

    if (reading->at)
        reading->at = jr_bytes_leb(reading->at, reading->end, &value);
    return reading->at ? value : 0;
}

/* A text that begins here; NULL: it has no end. */
static const char *take_text(struct reading *reading)
{
    const uint8_t *start = reading->at, *zero;

    if (!start)
        return NULL;
    zero = memchr(start, '\0', (size_t)(reading->end - start));
    reading->at = zero ? zero + 1 : NULL;
    return zero ? (const char *)start : NULL;
}

/* A text of another section, whose place there is said here. */
static const char *take_text_of(struct reading *reading,
                                const struct jr_line_bytes *bytes)
{
    const uint64_t at = take_number(reading, reading->offset_size);

    if (reading->at && at < bytes->size)
        return (const char *)bytes->start + at;
    if (reading->at && bytes->size == 0)
        find_strange(reading);
    reading->at = NULL;
    return NULL;
}

/* A value of DWARF 5's tables: a text in *text, else a number. */
static uint64_t take_value(struct reading *reading, uint64_t form,
                           const char **text)
{
    uint64_t size;

    switch (form) {
    case DW_FORM_string:
        *text = take_text(reading);
        return 0;
    case DW_FORM_line_strp:
        *text = take_text_of(reading, &reading->sections->texts);
        return 0;
    case DW_FORM_strp:
        *text = take_text_of(reading, &reading->sections->other_texts);
        return 0;
    case DW_FORM_udata:
        return take_leb(reading);
    case DW_FORM_data1:
        return take_number(reading, 1);
    case DW_FORM_data2:
        return take_number(reading, 2);
    case DW_FORM_data4:
        return take_number(reading, 4);
    case DW_FORM_data8:
        return take_number(reading, 8);
    case DW_FORM_data16:
        take_number(reading, 8);
        take_number(reading, 8);
        return 0;
    case DW_FORM_block:
        size = take_leb(reading);
        if (reading->at && size <= (uint64_t)(reading->end - reading->at))
            reading->at += size;
        else
            reading->at = NULL;
        return 0;
    default:
        find_strange(reading);
        return 0;
    }
}

static void add_folder(struct jr_line_table *table, const char *folder)
{
    *JR_PUSH(table->folders, table->nfolders, table->folders_room) = folder;
}

static void add_file(struct jr_line_table *table, const char *name,
                     uint64_t folder)
{
    *JR_PUSH(table->files, table->nfiles,
             table->files_room) = (struct jr_line_file){
        folder < table->nfolders ? table->folders[folder] : NULL, name, NULL};
}

/* A table of DWARF 5: of folders, or with `is_files` of files. */
static void read_entries(struct reading *reading, int is_files)
{
    uint64_t kinds[FORMS_MAX], forms[FORMS_MAX], count;
    const uint64_t nforms = take_number(reading, 1);

    for (uint64_t i = 0; i < nforms && i < FORMS_MAX; i++) {
        kinds[i] = take_leb(reading);
        forms[i] = take_leb(reading);
    }
    count = take_leb(reading);
    /* Each form takes a byte at least. */
    if (nforms > FORMS_MAX)
        find_strange(reading);
    else if (nforms == 0 && count > 0)
        reading->at = NULL;
    for (; reading->at && count > 0; count--) {
        const char *path = NULL;
        uint64_t folder = 0;

        for (uint64_t i = 0; i < nforms; i++) {
            const char *text = NULL;
            const uint64_t value = take_value(reading, forms[i], &text);

            if (kinds[i] == DW_LNCT_path)
                path = text;
            else if (kinds[i] == DW_LNCT_directory_index)
                folder = value;
        }
        if (is_files)
            add_file(reading->table, path, folder);
        else
            add_folder(reading->table, path);
    }
}

/* The tables of DWARF 2 to 4; the first folder is the unit's own, and files
 * have numbers from 1 on. */
static void read_old_entries(struct reading *reading, const char *own)
{
    const char *text;

    add_folder(reading->table, own);
    while ((text = take_text(reading)) && *text)
        add_folder(reading->table, text);
    add_file(reading->table, NULL, 0);
    while ((text = take_text(reading)) && *text) {
        const uint64_t folder = take_leb(reading);

        take_leb(reading); /* when it was changed, */
        take_leb(reading); /* its size */
        add_file(reading->table, text, folder);
    }
}

/* Reads the table's length, by which reading->end is set, and its version. */
static void read_length(struct reading *reading)
{
    uint64_t length = take_number(reading, 4);

    reading->offset_size = 4;
    if (length == 0xffffffff) {
        length = take_number(reading, 8);
        reading->offset_size = 8;
    }
    if (!reading->at || length > (uint64_t)(reading->end - reading->at)) {
        reading->at = NULL;
        return;
    }
    reading->end = reading->at + length;
    reading->version = (unsigned)take_number(reading, 2);
    if (reading->at && (reading->version < 2 || reading->version > 5))
        find_strange(reading);
}

/* Reads what is before the tables of folders and files. */
static void read_head(struct reading *reading, struct jr_line_program *program)
{
    uint64_t length;

    if (reading->version >= 5)
        take_number(reading, 2); /* sizes of an address and of a segment */
    length = take_number(reading, reading->offset_size);
    if (!reading->at || length > (uint64_t)(reading->end - reading->at)) {
        reading->at = NULL;
        return;
    }
    program->at = reading->at + length;
    program->end = reading->end;
    program->step = (uint8_t)take_number(reading, 1);
    /* Several operations in one instruction are of other machines. */
    if (reading->version >= 4 && take_number(reading, 1) != 1 && reading->at)
        find_strange(reading);
    take_number(reading, 1); /* whether rows are statements at first */
    program->line_base = (int8_t)take_number(reading, 1);
    program->line_range = (uint8_t)take_number(reading, 1);
    program->first_special = (uint8_t)take_number(reading, 1);
    program->lengths = reading->at;
    for (unsigned i = 1; i < program->first_special; i++)
        take_number(reading, 1);
    /* The program begins where the head says that the tables end. */
    if (reading->at && reading->at > program->at)
        reading->at = NULL;
    reading->end = program->at;
}

int jr_line_table_read(struct jr_line_table *table,
                       struct jr_dwarf_shared *shared, uint64_t offset,
                       const char *folder)
{
    const struct jr_line_bytes *bytes = &shared->lines.table;
    struct reading reading = {.sections = &shared->lines, .table = table};
    struct jr_line_program program = {0};

    if (offset >= bytes->size)
        return -1;
    reading.at = bytes->start + offset;
    reading.end = bytes->start + bytes->size;
    read_length(&reading);
    if (reading.at &&
        !jr_dwarf_steps(&shared->budget, (uint64_t)(reading.end - reading.at)))
        return -1;
    if (reading.at)
        read_head(&reading, &program);
    if (reading.at && reading.version >= 5) {
        read_entries(&reading, 0);
        read_entries(&reading, 1);
    } else if (reading.at) {
        read_old_entries(&reading, folder);
    }
    if (!reading.at) {
        jr_line_table_free(table);
        return reading.is_strange ? -1 : 1;
    }
    if (jr_line_rows_read(&table->rows, &program, &shared->live) != 0) {
        jr_line_table_free(table);
        return -1;
    }
    return 0;
}

void jr_line_table_free(struct jr_line_table *table)
{
    free(table->folders);
    free(table->files);
    jr_line_rows_free(&table->rows);
    *table = (struct jr_line_table){0};
}
