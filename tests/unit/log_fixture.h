/* SPDX-License-Identifier: MIT
 *
 * Builds logs in memory, record by record.
 * Runs in: tests. */
#ifndef LOG_FIXTURE_H
#define LOG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read/log.h"
#include "read/walk.h"

#define LOG_MAX (256 * 4096)

/* A log being built. */
struct built {
    uint8_t data[LOG_MAX];
    size_t size;
    size_t chunk, at; /* the open chunk and the next record in it */
};

static inline struct jp_log_header *put_header(struct built *built)
{
    struct jp_log_header *header;

    header = (struct jp_log_header *)(built->data + built->size);
    memset(header, 0, sizeof *header);
    memcpy(header->magic, JP_LOG_MAGIC, 8);
    header->byte_order = JP_LOG_BYTE_ORDER;
    header->version = JP_LOG_VERSION;
    header->header_size = JP_LOG_HEADER_SIZE;
    header->machine = sizeof(void *) == 8 ? 62 : 0;
    header->address_size = 8;
    header->pid = 7;
    built->size += sizeof *header;
    return header;
}

static inline struct jp_chunk_header *put_chunk(struct built *built,
                                                uint32_t size)
{
    struct jp_chunk_header *chunk;

    chunk = (struct jp_chunk_header *)(built->data + built->size);
    memset(chunk, 0, size);
    chunk->magic = JP_CHUNK_MAGIC;
    chunk->size = size;
    chunk->seq = 1;
    chunk->offset = built->size;
    chunk->pid = 7;
    built->chunk = built->size;
    built->at = built->size + sizeof *chunk;
    built->size += size;
    return chunk;
}

/* Appends a stack of its own `count` frames and the last `shared` of the one
 * at `base`; returns its place. */
static inline uint16_t put_stack(struct built *built, const uint64_t *frames,
                                 uint16_t count, uint16_t base, uint16_t shared)
{
    struct jp_stack_record record = {0};
    uint16_t place = (uint16_t)((built->at - built->chunk) / 8);

    record.head.type = JP_RECORD_STACK;
    record.head.words = (uint16_t)(2 + count);
    record.count = count;
    record.base = base;
    record.shared = shared;
    memcpy(built->data + built->at, &record, sizeof record);
    memcpy(built->data + built->at + sizeof record, frames,
           count * sizeof *frames);
    built->at += sizeof record + count * sizeof *frames;
    return place;
}

/* Appends a sample whose stack is at the place `stack`. */
static inline void put_sample_of(struct built *built,
                                 const struct jr_sample *sample, uint16_t stack)
{
    struct jp_sample_record record = {0};

    record.head.type = JP_RECORD_SAMPLE;
    record.head.info = JP_SAMPLE_INFO(sample->event, sample->reason);
    record.head.words = 3;
    record.tid = sample->tid;
    record.time_ns = sample->time_ns;
    record.weight_stack = JP_SAMPLE_PACK(sample->weight_ns, stack);
    memcpy(built->data + built->at, &record, sizeof record);
    built->at += sizeof record;
}

static inline void put_sample(struct built *built, uint64_t time_ns,
                              uint32_t tid, uint16_t stack)
{
    const struct jr_sample sample = {
        .time_ns = time_ns, .weight_ns = 1000ULL + tid, .tid = tid};

    put_sample_of(built, &sample, stack);
}

/* Appends a sample of the thread and stack of the one at the place `first`. */
static inline void put_again(struct built *built,
                             const struct jr_sample *sample, uint16_t first)
{
    struct jp_again_record record = {0};
    struct jp_chunk_header chunk;
    uint64_t since;

    memcpy(&chunk, built->data + built->chunk, sizeof chunk);
    since = sample->time_ns - chunk.opened_ns;
    record.head.type = JP_RECORD_AGAIN;
    record.head.info = JP_SAMPLE_INFO(sample->event, sample->reason);
    record.head.words = 2;
    record.sample = first;
    record.time_high = (uint8_t)(since >> 32);
    record.weight_high = (uint8_t)(sample->weight_ns >> 32);
    record.time = (uint32_t)since;
    record.weight = (uint32_t)sample->weight_ns;
    memcpy(built->data + built->at, &record, sizeof record);
    built->at += sizeof record;
}

static inline void put_text(struct built *built, const char *line)
{
    const size_t length = strlen(line), size = (8 + length + 7) & ~(size_t)7;
    struct jp_text_record *record =
        (struct jp_text_record *)(built->data + built->at);

    record->head.type = JP_RECORD_TEXT;
    record->head.words = (uint16_t)(size / 8);
    record->length = (uint32_t)length;
    memcpy(record->text, line, length);
    built->at += size;
}

/* A mark with so many bytes of name. */
static inline void put_mark(struct built *built, uint64_t time_ns, uint32_t tid,
                            uint8_t kind, const char *name, size_t length)
{
    const size_t size = (JP_MARK_RECORD_SIZE + length + 7) & ~(size_t)7;
    struct jp_mark_record *record =
        (struct jp_mark_record *)(built->data + built->at);

    record->head.type = JP_RECORD_MARK;
    record->head.info = kind;
    record->head.words = (uint16_t)(size / 8);
    record->tid = tid;
    record->time_ns = time_ns;
    record->length = (uint32_t)length;
    memcpy(record->name, name, length);
    built->at += size;
}

/* A log of two chunks: a stack built on another, samples out of order. */
static inline struct built *two_chunks(void)
{
    static const uint64_t root[] = {0x10, 0x20, 0x30, 0x40};
    static const uint64_t leaf[] = {0x99};
    struct built *built = calloc(1, sizeof *built);
    uint16_t first, second;

    put_header(built);
    put_chunk(built, 4096);
    first = put_stack(built, root, 4, 0, 0);
    second = put_stack(built, leaf, 1, first, 2);
    put_sample(built, 100, 1, first);
    put_sample(built, 300, 1, second);
    put_chunk(built, 8192);
    first = put_stack(built, root, 4, 0, 0);
    put_sample(built, 200, 2, first);
    put_sample(built, 400, 2, 0);
    return built;
}

static inline int parse(const struct built *built, struct jr_log *log,
                        struct jr_diag *diag)
{
    memset(diag, 0, sizeof *diag);
    return jr_log_parse(built->data, built->size, "log", log, diag);
}

/* All samples of a run in order of time, for the caller to free. */
static inline struct jr_sample *samples_of(const struct jr_log *log,
                                           const struct jr_run *run)
{
    struct jr_sample *all = calloc(run->nsamples + 1, sizeof *all);
    struct jr_walk *walk = jr_walk_begin(log, run, JR_WALK_BY_TIME);
    const struct jr_sample *some;
    size_t done = 0, count;

    while ((count = jr_walk_next(walk, &some)) > 0) {
        assert_true(done + count <= run->nsamples);
        memcpy(all + done, some, count * sizeof *all);
        done += count;
    }
    assert_int_equal(done, run->nsamples);
    assert_int_equal(jr_walk_gone(walk), 0);
    jr_walk_end(walk);
    return all;
}

#endif
