/* SPDX-License-Identifier: MIT
 *
 * The records of a chunk: stacks, checked and made whole, and samples.
 * Runs in: analyzer. */
#include "chunk.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jp_map.h"

/* One chunk being read. */
struct cursor {
    struct jr_chunk_reader *reader;
    struct jr_run *run;
    const uint8_t *data;
    size_t size;      /* bytes there are */
    uint64_t offset;  /* of the chunk in the file */
    unsigned damaged; /* records that could not be used */
};

void jr_chunk_reader_begin(struct jr_chunk_reader *reader, const char *path,
                           struct jr_diag *diag)
{
    memset(reader, 0, sizeof *reader);
    reader->path = path;
    reader->diag = diag;
    reader->stacks = jr_alloc(JR_CHUNK_PLACES, sizeof *reader->stacks);
    reader->whole = jr_alloc(JR_STACK_DEPTH_MAX, sizeof *reader->whole);
}

void jr_chunk_reader_end(struct jr_chunk_reader *reader)
{
    free(reader->stacks);
    free(reader->whole);
    memset(reader, 0, sizeof *reader);
}

/* Counts a damaged record and reports the first one of the chunk. */
static void damage(struct cursor *cursor, size_t at, const char *text)
{
    if (cursor->damaged++ == 0) {
        cursor->run->bad_chunks++;
        jr_warn(cursor->reader->diag, cursor->reader->path, cursor->offset + at,
                "%s", text);
    }
}

/* Returns what is wrong with a stack record, or NULL with the whole stack in
 * reader->whole and its depth in *depth. */
static const char *whole_stack(struct cursor *cursor, size_t at,
                               const struct jp_stack_record *record,
                               uint32_t *depth)
{
    struct jr_chunk_reader *reader = cursor->reader;
    const struct jr_stack *base;
    uint32_t base_index;

    if (record->head.words != 2 + (uint32_t)record->count)
        return "stack with a wrong number of frames; left out";
    *depth = (uint32_t)record->count + record->shared;
    if (*depth > JR_STACK_DEPTH_MAX)
        return "stack of more than 4096 frames; left out";
    if (record->gap > *depth)
        return "stack with a gap beyond its end; left out";
    memcpy(reader->whole, cursor->data + at + sizeof *record,
           record->count * sizeof *reader->whole);
    if (record->shared == 0)
        return NULL;
    if (record->base >= JR_CHUNK_PLACES || record->base >= at / 8)
        return "stack built on one that is not earlier; left out";
    base_index = reader->stacks[record->base];
    if (base_index == JR_STACK_NONE)
        return "stack built on one that is not there; left out";
    base = &cursor->run->stacks[base_index];
    if (record->shared > base->depth)
        return "stack that shares more frames than there are; left out";
    memcpy(reader->whole + record->count,
           cursor->run->frames + base->first + base->depth - record->shared,
           record->shared * sizeof *reader->whole);
    return NULL;
}

static void read_stack(struct cursor *cursor, size_t at)
{
    struct jr_chunk_reader *reader = cursor->reader;
    struct jp_stack_record record;
    const char *wrong;
    uint32_t depth = 0, index;

    memcpy(&record, cursor->data + at, sizeof record.head);
    if (record.head.words < 2) {
        damage(cursor, at, "stack record too short; left out");
        return;
    }
    memcpy(&record, cursor->data + at, sizeof record);
    wrong = whole_stack(cursor, at, &record, &depth);
    if (wrong) {
        damage(cursor, at, wrong);
        return;
    }
    index = jr_stack_add(reader->table, cursor->run, reader->whole, depth,
                         record.gap);
    if (index == JR_STACK_NONE)
        damage(cursor, at, "more frames than a log can hold; stack left out");
    reader->stacks[at / 8] = index;
}

static void read_sample(struct cursor *cursor, size_t at)
{
    struct jp_sample_record record;
    struct jr_run *run = cursor->run;
    uint32_t place, stack = 0;

    memcpy(&record, cursor->data + at, sizeof record.head);
    if (record.head.words != sizeof record / 8) {
        damage(cursor, at, "sample record of a wrong size; left out");
        return;
    }
    memcpy(&record, cursor->data + at, sizeof record);
    if (JP_SAMPLE_EVENT(record.head.info) >= JP_EVENT_COUNT ||
        JP_SAMPLE_REASON(record.head.info) >= JP_REASON_COUNT) {
        damage(cursor, at, "sample of an unknown kind; left out");
        return;
    }
    place = JP_SAMPLE_STACK(record.weight_stack);
    if (place) {
        stack = place < at / 8 ? cursor->reader->stacks[place] : JR_STACK_NONE;
        if (stack == JR_STACK_NONE) {
            damage(cursor, at, "sample whose stack is not there; left out");
            return;
        }
    }
    if (record.time_ns < run->header.cleared_ns)
        return;
    *JR_PUSH(run->samples, run->nsamples, run->samples_room) =
        (struct jr_sample){.time_ns = record.time_ns,
                           .weight_ns = JP_SAMPLE_WEIGHT(record.weight_stack),
                           .tid = record.tid,
                           .stack = stack,
                           .event = JP_SAMPLE_EVENT(record.head.info),
                           .reason =
                               (uint8_t)JP_SAMPLE_REASON(record.head.info)};
}

static void read_text(struct cursor *cursor, size_t at)
{
    struct jp_text_record record;
    struct jr_run *run = cursor->run;
    size_t room;

    memcpy(&record, cursor->data + at, sizeof record);
    room = (size_t)record.head.words * 8 - sizeof record;
    if (record.length > room || room - record.length >= 8 ||
        record.length >= JP_MAP_LINE_MAX) {
        damage(cursor, at, "text of a wrong length; left out");
        return;
    }
    run->text =
        jr_grow(run->text, run->ntext + record.length + 1, &run->text_room, 1);
    memcpy(run->text + run->ntext, cursor->data + at + sizeof record,
           record.length);
    /* One line, whatever is in it. */
    for (size_t i = 0; i < record.length; i++)
        if (run->text[run->ntext + i] == '\n')
            run->text[run->ntext + i] = ' ';
    run->ntext += record.length;
    run->text[run->ntext++] = '\n';
}

/* Reads the record at `at`; returns its size, 0 at the end. */
static size_t read_record(struct cursor *cursor, size_t at, size_t chunk_size)
{
    struct jp_record head;
    size_t size;

    memcpy(&head, cursor->data + at, sizeof head);
    if (head.type == 0)
        return 0;
    size = (size_t)head.words * 8;
    if (size == 0) {
        damage(cursor, at,
               "record without a length; rest of this chunk "
               "skipped");
        return 0;
    }
    if (size > chunk_size - at) {
        damage(cursor, at,
               "record runs past its chunk; rest of this chunk "
               "skipped");
        return 0;
    }
    if (size > cursor->size - at) {
        damage(cursor, at,
               "the file ends inside this record; rest of the "
               "chunk is missing");
        return 0;
    }
    if (head.type == JP_RECORD_STACK)
        read_stack(cursor, at);
    else if (head.type == JP_RECORD_SAMPLE)
        read_sample(cursor, at);
    else if (head.type == JP_RECORD_TEXT)
        read_text(cursor, at);
    return size;
}

void jr_chunk_read(struct jr_chunk_reader *reader, struct jr_run *run,
                   const uint8_t *data, size_t size, uint64_t offset)
{
    struct cursor cursor = {reader, run, data, size, offset, 0};
    struct jp_chunk_header head;
    size_t at = JP_CHUNK_HEADER_SIZE, step;

    memcpy(&head, data, sizeof head);
    /* Places of the chunk before must not be found again. */
    memset(reader->stacks, 0xff, head.size / 8 * sizeof *reader->stacks);
    while (at + sizeof(struct jp_record) <= size) {
        step = read_record(&cursor, at, head.size);
        if (step == 0)
            break;
        at += step;
    }
    if (at < size && at + sizeof(struct jp_record) > size && data[at])
        damage(&cursor, at,
               "the file ends inside this record; rest of the "
               "chunk is missing");
}
