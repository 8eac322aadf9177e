/* SPDX-License-Identifier: MIT
 *
 * Reads jitdumps as runtimes write them: either byte order, headers of any
 * size, unknown records, zeros between records, torn tails.
 * Runs in: analyzer. */
#include "jitdump.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "jitdump_fields.h"

#define WINDOW_SIZE (256U << 10)
#define ZEROS_STEP (64U << 10) /* zeros that are looked at in one go */
#define MAGIC 0x4A695444U      /* "JiTD", of the specification */
#define HEADER_SIZE 40U
#define HEADER_LEAST 24U   /* up to the pid */
#define HEADER_MOST 65536U /* of any later version */
#define FLAG_ARCH_TIME 1U

/* Smallest sizes of the records, prefix included. */
static const uint32_t least_size[JR_JITDUMP_TYPES] = {
    [JR_JITDUMP_LOAD] = JR_LOAD_NAME + 1,
    [JR_JITDUMP_MOVE] = JR_RECORD_PREFIX + 48,
    [JR_JITDUMP_DEBUG] = JR_DEBUG_ENTRIES,
    [JR_JITDUMP_CLOSE] = JR_RECORD_PREFIX,
    [JR_JITDUMP_UNWINDING] = JR_RECORD_PREFIX + 24,
};

/* Returns up to `size` bytes at `offset` and sets *got to how many there
 * are. */
static const uint8_t *look(struct jr_jitdump *dump, uint64_t offset,
                           size_t size, size_t *got)
{
    const struct jr_source *source = dump->source;

    if (!source->path) {
        uint64_t left = offset < source->size ? source->size - offset : 0;

        *got = left < size ? (size_t)left : size;
        return left ? source->memory + offset : NULL;
    }
    if (offset < dump->window_at ||
        offset + size > dump->window_at + dump->window_size) {
        dump->window_at = offset;
        dump->window_size =
            jr_source_read(source, dump->window, WINDOW_SIZE, offset);
    }
    *got = dump->window_size - (size_t)(offset - dump->window_at);
    if (*got > size)
        *got = size;
    return dump->window + (offset - dump->window_at);
}

static int take_header(struct jr_jitdump *dump, const char **why)
{
    const uint8_t *bytes;
    uint32_t magic;
    size_t got;

    bytes = look(dump, 0, HEADER_SIZE, &got);
    if (got < HEADER_LEAST) {
        /* An empty file: its process mapped it and was killed before it
         * wrote. */
        dump->cut_at = got ? 0 : JR_NO_OFFSET;
        dump->at = dump->source->size;
        return 0;
    }
    memcpy(&magic, bytes, sizeof magic);
    if (magic != MAGIC && magic != __builtin_bswap32(MAGIC)) {
        *why = "is no jitdump";
        return -1;
    }
    dump->swapped = magic != MAGIC;
    dump->version = jr_field32(bytes + 4, dump->swapped);
    dump->header_size = jr_field32(bytes + 8, dump->swapped);
    dump->machine = jr_field32(bytes + 12, dump->swapped);
    dump->pid = jr_field32(bytes + 20, dump->swapped);
    if (got == HEADER_SIZE && dump->header_size >= HEADER_SIZE)
        dump->has_arch_time =
            jr_field64(bytes + 32, dump->swapped) & FLAG_ARCH_TIME;
    if (dump->header_size < HEADER_LEAST) {
        *why = "has a header that is too short";
        return -1;
    }
    if (dump->header_size > HEADER_MOST) {
        *why = "has a header that is too long";
        return -1;
    }
    dump->at = dump->header_size;
    return 0;
}

int jr_jitdump_begin(struct jr_jitdump *dump, const struct jr_source *source,
                     const char **why)
{
    memset(dump, 0, sizeof *dump);
    dump->source = source;
    dump->lost_at = JR_NO_OFFSET;
    dump->cut_at = JR_NO_OFFSET;
    if (source->path)
        dump->window = jr_realloc(NULL, WINDOW_SIZE, 1);
    return take_header(dump, why);
}

void jr_jitdump_free(struct jr_jitdump *dump)
{
    free(dump->window);
    dump->window = NULL;
}

static int is_range(uint64_t start, uint64_t size)
{
    uint64_t end;

    return !__builtin_add_overflow(start, size, &end);
}

/* Fills the fields of the record's type.  Returns -1 when they cannot be. */
static int take_fields(const struct jr_jitdump *dump, const uint8_t *bytes,
                       size_t got, struct jr_jitdump_record *record)
{
    const uint8_t *body = bytes + JR_RECORD_PREFIX;
    int swapped = dump->swapped;

    if (record->size < least_size[record->type])
        return -1;
    switch (record->type) {
    case JR_JITDUMP_LOAD:
        record->pid = jr_field32(body, swapped);
        record->start = jr_field64(body + 16, swapped);
        record->code_size = jr_field64(body + 24, swapped);
        return record->code_size <= record->size - least_size[0] &&
                       is_range(record->start, record->code_size)
                   ? 0
                   : -1;
    case JR_JITDUMP_MOVE:
        record->pid = jr_field32(body, swapped);
        record->old_start = jr_field64(body + 16, swapped);
        record->start = jr_field64(body + 24, swapped);
        record->code_size = jr_field64(body + 32, swapped);
        return is_range(record->start, record->code_size) ? 0 : -1;
    case JR_JITDUMP_DEBUG:
        record->start = jr_field64(body, swapped);
        if (jr_field64(body + 8, swapped) && got >= JR_DEBUG_ENTRIES + 8)
            record->first_line = jr_field64(body + 16, swapped);
        return 0;
    default:
        return 0;
    }
}

#define PADDING_MAX 7U /* bytes between a LOAD's name and its code */

/* Whether the name of a LOAD ends where its code begins. A record that is read
 * from one byte too early has a size and a code size that are 256 times too
 * large, and which may fit all the same. */
static int has_name(struct jr_jitdump *dump,
                    const struct jr_jitdump_record *record)
{
    uint64_t room = record->size - record->code_size - JR_LOAD_NAME;
    size_t most =
        room < JR_JITDUMP_NAME_MAX ? (size_t)room : JR_JITDUMP_NAME_MAX;
    const uint8_t *name;
    size_t got;

    name = look(dump, record->offset + JR_LOAD_NAME, most, &got);
    if (got < most)
        return 0;
    got = strnlen((const char *)name, most);
    return room > most ? got == most
                       : got < most && most - 1 - got <= PADDING_MAX;
}

/* Whether a record of a known type could start at `offset`. */
static int is_plausible(struct jr_jitdump *dump, uint64_t offset, uint64_t *end)
{
    struct jr_jitdump_record record = {0};
    const uint8_t *bytes;
    size_t got;

    bytes = look(dump, offset, JR_RECORD_LOOK, &got);
    if (got < JR_RECORD_PREFIX)
        return 0;
    record.type = jr_field32(bytes, dump->swapped);
    record.size = jr_field32(bytes + 4, dump->swapped);
    record.offset = offset;
    *end = offset + record.size;
    return record.type < JR_JITDUMP_TYPES && *end <= dump->source->size &&
           got >=
               (record.size < JR_RECORD_LOOK ? record.size : JR_RECORD_LOOK) &&
           take_fields(dump, bytes, got, &record) == 0 &&
           (record.type != JR_JITDUMP_LOAD || has_name(dump, &record));
}

/* The same, and whether another record, zeros or the end of the file follow
 * it. */
static int is_record(struct jr_jitdump *dump, uint64_t offset)
{
    uint64_t end, next;
    const uint8_t *bytes;
    size_t got;

    if (!is_plausible(dump, offset, &end))
        return 0;
    if (is_plausible(dump, end, &next))
        return 1;
    bytes = look(dump, end, 8, &got);
    return got < 8 || (jr_field32(bytes, 0) | jr_field32(bytes + 4, 0)) == 0;
}

#define SEARCH_MAX (16U << 20) /* bytes that are searched for a record */
#define DAMAGES_MAX 64U        /* of a file, each of which is a search */
#define APART_MAX (1ULL << 44) /* ns, hours; or ticks of a clock */

/* Whether records may go on here: only a record that tells of code, of about
 * the time of the last one, is believed. */
static int goes_on_at(struct jr_jitdump *dump, uint64_t at)
{
    uint64_t next, last, time_ns;
    const uint8_t *bytes;
    uint32_t type;
    size_t got;

    bytes = look(dump, at, JR_RECORD_PREFIX, &got);
    type = jr_field32(bytes, dump->swapped);
    time_ns = jr_field64(bytes + 8, dump->swapped);
    return (type == JR_JITDUMP_LOAD || type == JR_JITDUMP_DEBUG) &&
           time_ns + APART_MAX - dump->last_ns < 2 * APART_MAX &&
           is_plausible(dump, at, &next) &&
           (next == dump->source->size || is_plausible(dump, next, &last));
}

/* What is at dump->at is no record: two processes that write to one file damage
 * it in places.  Goes on with the first record behind that which is followed by
 * another.  Returns whether there is one. */
static int find_next(struct jr_jitdump *dump)
{
    uint64_t from = dump->at, end = dump->source->size;

    if (dump->damages >= DAMAGES_MAX)
        return 0;
    if (end - from > SEARCH_MAX)
        end = from + SEARCH_MAX;
    for (uint64_t at = from + 1; at + JR_RECORD_PREFIX < end; at++) {
        if (goes_on_at(dump, at)) {
            if (dump->damages++ == 0)
                dump->first_damage = from;
            dump->at = at;
            return 1;
        }
    }
    return 0;
}

/* Zeros are no record: pages that were made ready and not used, or filled up
 * to an alignment.  Goes on where they end; as a LOAD starts with four zeros
 * itself, that is within the eight bytes before the first other one.  Returns
 * whether a record is there. */
static int skip_zeros(struct jr_jitdump *dump)
{
    uint64_t from = dump->at, at = from;
    const uint8_t *bytes;
    size_t got, zeros = 0;

    for (;; at = jr_source_data(dump->source, at + zeros)) {
        bytes = look(dump, at, ZEROS_STEP, &got);
        if (got == 0) {
            dump->at = dump->source->size;
            return 0;
        }
        zeros = got;
        if (bytes[0] == 0 && memcmp(bytes, bytes + 1, got - 1) == 0)
            continue;
        for (zeros = 0; bytes[zeros] == 0; zeros++)
            ;
        break;
    }
    at += zeros;
    for (uint64_t start = at - from < 8 ? from : at - 7; start <= at; start++) {
        if (start != from && is_record(dump, start)) {
            dump->at = start;
            return 1;
        }
    }
    dump->at = at;
    if (find_next(dump))
        return 1;
    dump->lost_at = from;
    dump->at = dump->source->size;
    return 0;
}

/* Finds the record at dump->at and fills what all have in common.  Returns its
 * first bytes, *got of them, or NULL at the end. */
static const uint8_t *take_prefix(struct jr_jitdump *dump,
                                  struct jr_jitdump_record *record, size_t *got)
{
    const uint8_t *bytes;
    uint64_t left;

    while (dump->at < dump->source->size) {
        bytes = look(dump, dump->at, JR_RECORD_LOOK, got);
        left = dump->source->size - dump->at;
        if (*got < JR_RECORD_PREFIX) {
            dump->cut_at = dump->at;
            break;
        }
        record->offset = dump->at;
        record->type = jr_field32(bytes, dump->swapped);
        record->size = jr_field32(bytes + 4, dump->swapped);
        record->time_ns = jr_field64(bytes + 8, dump->swapped);
        if (record->size >= JR_RECORD_PREFIX && record->size <= left) {
            dump->at += record->size;
            dump->last_ns = record->time_ns;
            if (*got > record->size)
                *got = (size_t)record->size;
            return bytes;
        }
        if (record->type == 0 && record->size == 0) {
            if (!skip_zeros(dump))
                return NULL;
        } else if (!find_next(dump)) {
            if (record->size > left)
                dump->cut_at = dump->at;
            else
                dump->lost_at = dump->at;
            break;
        }
    }
    dump->at = dump->source->size;
    return NULL;
}

int jr_jitdump_next(struct jr_jitdump *dump, struct jr_jitdump_record *record)
{
    const uint8_t *bytes;
    size_t got;

    for (;;) {
        memset(record, 0, sizeof *record);
        bytes = take_prefix(dump, record, &got);
        if (!bytes)
            return 0;
        if (record->type >= JR_JITDUMP_TYPES) {
            if (dump->unknown++ == 0) {
                dump->first_unknown = record->offset;
                dump->unknown_type = record->type;
            }
        } else if (take_fields(dump, bytes, got, record) < 0) {
            if (dump->malformed++ == 0)
                dump->first_malformed = record->offset;
        } else {
            dump->counts[record->type]++;
            if (record->code_size || record->type > JR_JITDUMP_MOVE)
                return 1;
        }
    }
}
