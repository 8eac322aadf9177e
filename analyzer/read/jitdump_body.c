/* SPDX-License-Identifier: MIT
 *
 * What a jitdump's records hold besides their fixed fields: names and tables
 * of source lines.
 * Runs in: analyzer. */
#include "jitdump_body.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jitdump_fields.h"

#define TABLE_MAX (16U << 20) /* bytes of a line table; more are not read */
#define PADDING_MAX 7U        /* bytes behind the last entry */
#define FIRST_LOOK 256U       /* bytes that hold most names */

int jr_jitdump_load(const struct jr_jitdump *dump, uint64_t offset,
                    struct jr_jitdump_load *load)
{
    uint8_t bytes[JR_LOAD_NAME + JR_JITDUMP_NAME_MAX + 1];
    size_t got = jr_source_read(dump->source, bytes, FIRST_LOOK, offset);
    uint64_t size, length;

    if (got < JR_LOAD_NAME || jr_field32(bytes, dump->swapped) != 0)
        return -1;
    if (!memchr(bytes + JR_LOAD_NAME, '\0', got - JR_LOAD_NAME))
        got += jr_source_read(dump->source, bytes + got, sizeof bytes - got,
                              offset + got);
    size = jr_field32(bytes + 4, dump->swapped);
    load->start = jr_field64(bytes + 32, dump->swapped);
    load->code_size = jr_field64(bytes + 40, dump->swapped);
    if (size <= JR_LOAD_NAME || load->code_size > size - JR_LOAD_NAME)
        return -1;
    load->code_offset = offset + size - load->code_size;
    length = size - load->code_size - JR_LOAD_NAME;
    if (length > got - JR_LOAD_NAME)
        length = got - JR_LOAD_NAME;
    if (length > JR_JITDUMP_NAME_MAX)
        length = JR_JITDUMP_NAME_MAX;
    load->length =
        (uint32_t)strnlen((char *)bytes + JR_LOAD_NAME, (size_t)length);
    memcpy(load->name, bytes + JR_LOAD_NAME, load->length);
    load->name[load->length] = '\0';
    return 0;
}

/* A line table that is being taken apart. */
struct table {
    const uint8_t *bytes; /* the entries */
    size_t size;
    uint64_t count;      /* of entries, as the record says */
    uint64_t start, end; /* addresses that its entries may have */
    int swapped;
};

/* Control characters stand in no path that a runtime compiled; where a name
 * has them, it is memory that was freed. */
static int is_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return 0;
    }
    return 1;
}

static struct jr_jitdump_line entry_at(const struct table *table, size_t at)
{
    const uint8_t *bytes = table->bytes + at;

    return (struct jr_jitdump_line){
        .address = jr_field64(bytes, table->swapped),
        .line = jr_field32(bytes + 8, table->swapped),
        .discriminator = jr_field32(bytes + 12, table->swapped)};
}

/* Erlang's tables begin before the code, SpiderMonkey's may end behind it. */
#define SLACK 256U

/* Whether an entry's address lies in the code, or close enough to it to be a
 * writer's inaccuracy. */
static int is_near(const struct table *table, uint64_t address)
{
    uint64_t low = table->start > SLACK ? table->start - SLACK : 0;

    return address >= low && address - low <= table->end - low + SLACK;
}

/* Adds an entry. Of entries before the code the last one is taken for the
 * code's first address; entries behind the code are dropped. */
static void take_entry(const struct table *table,
                       struct jr_jitdump_lines *lines,
                       struct jr_jitdump_line entry)
{
    if (entry.address > table->end)
        return;
    if (entry.address < table->start) {
        entry.address = table->start;
        if (lines->count &&
            lines->items[lines->count - 1].address == table->start)
            lines->count--;
    }
    lines->items[lines->count++] = entry;
}

/* Reads entry after entry.  Returns how many bytes they take, or 0 when they
 * cannot be what the writer meant. */
static size_t take_entries(const struct table *table,
                           struct jr_jitdump_lines *lines)
{
    uint32_t file = 0, length = 0;
    size_t at = 0;

    for (uint64_t i = 0; i < table->count; i++) {
        struct jr_jitdump_line entry;
        const char *name, *end;

        if (table->size - at <= JR_DEBUG_ENTRY)
            return 0;
        entry = entry_at(table, at);
        at += JR_DEBUG_ENTRY;
        name = (const char *)table->bytes + at;
        end = memchr(name, '\0', table->size - at);
        if (!end || !is_near(table, entry.address))
            return 0;
        /* By the specification this byte stands for the name of the entry
         * before. */
        if (end - name != 1 || (unsigned char)*name != 0xff) {
            file = (uint32_t)at;
            length = (uint32_t)(end - name);
            if (!is_name(name, length))
                return 0;
        }
        at += (size_t)(end - name) + 1;
        entry.file = file;
        entry.length = length;
        take_entry(table, lines, entry);
    }
    return at;
}

/* The file in V8's `JS:*name FILE:LINE:COLUMN`, when it has `length` bytes;
 * an offset in `text`, or 0. */
static uint32_t file_in_name(const char *text, uint32_t size, size_t length)
{
    uint32_t end = size;

    for (int i = 0; i < 2; i++) {
        uint32_t digits = end;

        while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
            digits--;
        if (digits == end || digits == 0 || text[digits - 1] != ':')
            return 0;
        end = digits - 1;
    }
    if (end <= length || text[end - length - 1] != ' ')
        return 0;
    return end - (uint32_t)length;
}

/* Node 20 writes file names from memory that was freed, but as many bytes as
 * the name had: where all entries have one size, their addresses and lines can
 * still be read.  The name itself may be known from the code's. */
static void take_strides(const struct table *table,
                         const struct jr_jitdump_load *load,
                         struct jr_jitdump_lines *lines)
{
    size_t stride = (size_t)(table->size / table->count), length;
    uint32_t file;

    if (stride <= JR_DEBUG_ENTRY ||
        table->size - stride * table->count > PADDING_MAX)
        return;
    length = stride - JR_DEBUG_ENTRY - 1;
    file = file_in_name(load->name, load->length, length);
    for (size_t i = 0; i < table->count; i++) {
        struct jr_jitdump_line entry = entry_at(table, i * stride);

        if (entry.address < table->start || entry.address > table->end ||
            (i && entry.address < lines->items[i - 1].address)) {
            lines->count = 0;
            return;
        }
        entry.file = file;
        entry.length = file ? (uint32_t)length : 0;
        lines->items[lines->count++] = entry;
    }
}

static int by_address(const void *one, const void *other)
{
    const struct jr_jitdump_line *a = one, *b = other;

    return a->address < b->address ? -1 : a->address > b->address;
}

/* Puts the table in order, its addresses as they are in the code. */
static void finish(struct jr_jitdump_lines *lines, uint64_t bias)
{
    for (size_t i = 0; i < lines->count; i++) {
        lines->items[i].address -= bias;
        /* A signed number in the format; below 1 there is no line. */
        if (lines->items[i].line > INT32_MAX)
            lines->items[i].line = 0;
    }
    for (size_t i = 1; i < lines->count; i++) {
        if (lines->items[i].address < lines->items[i - 1].address) {
            qsort(lines->items, lines->count, sizeof *lines->items, by_address);
            return;
        }
    }
}

/* Reads the bytes of the record at `offset`, or none. */
static uint8_t *read_record(const struct jr_jitdump *dump, uint64_t offset,
                            size_t *size)
{
    uint8_t prefix[JR_DEBUG_ENTRIES], *bytes;
    uint32_t said;

    if (jr_source_read(dump->source, prefix, sizeof prefix, offset) <
            sizeof prefix ||
        jr_field32(prefix, dump->swapped) != JR_JITDUMP_DEBUG)
        return NULL;
    said = jr_field32(prefix + 4, dump->swapped);
    if (said < JR_DEBUG_ENTRIES || said > TABLE_MAX ||
        said > dump->source->size - offset)
        return NULL;
    bytes = jr_realloc(NULL, said, 1);
    *size = jr_source_read(dump->source, bytes, said, offset);
    if (*size == said)
        return bytes;
    free(bytes);
    return NULL;
}

void jr_jitdump_lines(const struct jr_jitdump *dump, uint64_t offset,
                      const struct jr_jitdump_load *load, uint64_t bias,
                      struct jr_jitdump_lines *lines)
{
    struct table table = {.start = load->start + bias,
                          .end = load->start + load->code_size + bias,
                          .swapped = dump->swapped};
    size_t size, used;
    uint8_t *bytes = read_record(dump, offset, &size);

    memset(lines, 0, sizeof *lines);
    if (!bytes)
        return;
    table.bytes = bytes + JR_DEBUG_ENTRIES;
    table.size = size - JR_DEBUG_ENTRIES;
    table.count = jr_field64(bytes + 24, dump->swapped);
    if (table.count == 0) {
        free(bytes);
        return;
    }
    lines->text = (char *)bytes;
    lines->garbage = 1;
    if (table.count > table.size / (JR_DEBUG_ENTRY + 1))
        return;
    lines->items = jr_alloc((size_t)table.count, sizeof *lines->items);
    used = take_entries(&table, lines);
    if (used && table.size - used <= PADDING_MAX) {
        lines->garbage = 0;
        for (size_t i = 0; i < lines->count; i++)
            lines->items[i].file += JR_DEBUG_ENTRIES;
    } else {
        lines->count = 0;
        take_strides(&table, load, lines);
        free(lines->text);
        lines->text = jr_strndup(load->name, load->length);
    }
    finish(lines, bias);
}

void jr_jitdump_lines_free(struct jr_jitdump_lines *lines)
{
    free(lines->items);
    free(lines->text);
    memset(lines, 0, sizeof *lines);
}
