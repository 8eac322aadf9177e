/* SPDX-License-Identifier: MIT
 *
 * The records of a chunk: stacks, checked and made whole, and samples.
 * Runs in: analyzer. */
#include "chunk.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jp_map.h"

/* Stands for a SAMPLE record where the stacks of a chunk are kept by place. */
#define SAMPLE_HERE (JR_STACK_NONE - 1)

/* Bases of bases that are looked at. */
#define BASES_MOST 64

/* One chunk being read. */
struct cursor {
    struct jr_chunk_reader *reader;
    struct jr_run *run;
    const uint8_t *data;
    size_t size;      /* how many bytes of the chunk there are */
    uint64_t offset;  /* where the chunk is in the file */
    unsigned damaged; /* records that could not be used */
    struct jr_chunk chunk;
};

void jr_chunk_reader_begin(struct jr_chunk_reader *reader, const char *path,
                           struct jr_diag *diag)
{
    memset(reader, 0, sizeof *reader);
    reader->path = path;
    reader->diag = diag;
    reader->stacks = jr_alloc(JR_CHUNK_PLACES, sizeof *reader->stacks);
    reader->frames = jr_alloc(JR_STACK_DEPTH_MAX, sizeof *reader->frames);
    reader->hashes = jr_alloc(JR_CHUNK_PLACES, sizeof *reader->hashes);
    reader->whole = jr_alloc(JR_CHUNK_PLACES, sizeof *reader->whole);
    reader->guesses = jr_alloc(JR_CHUNK_PLACES, sizeof *reader->guesses);
}

void jr_chunk_reader_end(struct jr_chunk_reader *reader)
{
    free(reader->stacks);
    free(reader->frames);
    free(reader->hashes);
    free(reader->whole);
    free(reader->guesses);
    memset(reader, 0, sizeof *reader);
}

/* The stack of the STACK record at `place` of the chunk's places. */
static uint32_t stack_of(const uint32_t *stacks, uint32_t place)
{
    return stacks[place] == SAMPLE_HERE ? JR_STACK_NONE : stacks[place];
}

/* Counts a damaged record and reports the first one of the chunk. */
static void damage(struct cursor *cursor, size_t at, const char *text)
{
    cursor->run->bad_records++;
    if (cursor->damaged++ == 0) {
        cursor->run->bad_chunks++;
        jr_warn(cursor->reader->diag, cursor->reader->path, cursor->offset + at,
                "%s", text);
    }
}

/* Returns what is wrong with a stack record, or NULL with it in *parts. */
static const char *check_stack(const struct cursor *cursor, size_t at,
                               struct jr_stack_parts *parts)
{
    const struct jr_chunk_reader *reader = cursor->reader;
    const struct jr_stacks *stacks = &cursor->run->stacks;
    struct jp_stack_record record;

    memcpy(&record, cursor->data + at, sizeof record.head);
    if (record.head.words < 2)
        return "stack record too short; left out";
    memcpy(&record, cursor->data + at, sizeof record);
    *parts = (struct jr_stack_parts){.frames = reader->frames,
                                     .count = record.count,
                                     .shared = record.shared,
                                     .gap = record.gap};
    if (record.head.words != 2 + parts->count)
        return "stack with a wrong number of frames; left out";
    if (parts->count + parts->shared > JR_STACK_DEPTH_MAX)
        return "stack of more than 4096 frames; left out";
    if (parts->gap > parts->count + parts->shared)
        return "stack with a gap beyond its end; left out";
    memcpy(reader->frames, cursor->data + at + sizeof record,
           record.count * sizeof *reader->frames);
    if (parts->shared == 0)
        return NULL;
    if (record.base >= JR_CHUNK_PLACES || record.base >= at / 8)
        return "stack built on one that is not earlier; left out";
    parts->base = stack_of(reader->stacks, record.base);
    if (parts->base == JR_STACK_NONE)
        return "stack built on one that is not there; left out";
    if (parts->shared > jr_stacks_depth(stacks, parts->base))
        return "stack that shares more frames than there are; left out";
    return NULL;
}

static void read_stack(struct cursor *cursor, size_t at)
{
    struct jr_run *run = cursor->run;
    struct jr_stack_parts parts;
    const char *wrong = check_stack(cursor, at, &parts);
    uint32_t index = JR_STACK_NONE;

    if (!wrong) {
        index = jr_stacks_add(&run->stacks, &parts);
        if (index == JR_STACK_NONE)
            wrong = "more stacks than can be numbered; left out";
    }
    if (wrong)
        damage(cursor, at, wrong);
    cursor->reader->stacks[at / 8] = index;
    *JR_PUSH(run->records, run->nrecords, run->records_room) = index;
}

/* Whether the event and the reason in the head of a sample of either kind are
 * known. */
static int is_known(const struct jp_record *head)
{
    return JP_SAMPLE_EVENT(head->info) < JP_EVENT_COUNT &&
           JP_SAMPLE_REASON(head->info) < JP_REASON_COUNT;
}

/* Returns what is wrong with a SAMPLE record, or NULL with it in *sample. */
static const char *decode_first(const uint8_t *data, size_t at,
                                const uint32_t *stacks,
                                struct jr_sample *sample)
{
    struct jp_sample_record record;
    uint32_t place;

    memcpy(&record, data + at, sizeof record.head);
    if (record.head.words != sizeof record / 8)
        return "sample record of a wrong size; left out";
    memcpy(&record, data + at, sizeof record);
    if (!is_known(&record.head))
        return "sample of an unknown kind; left out";
    place = JP_SAMPLE_STACK(record.weight_stack);
    *sample = (struct jr_sample){
        .time_ns = record.time_ns,
        .weight_ns = JP_SAMPLE_WEIGHT(record.weight_stack),
        .tid = record.tid,
        .event = JP_SAMPLE_EVENT(record.head.info),
        .reason = (uint8_t)JP_SAMPLE_REASON(record.head.info)};
    if (place) {
        sample->stack =
            place < at / 8 ? stack_of(stacks, place) : JR_STACK_NONE;
        if (sample->stack == JR_STACK_NONE)
            return "sample whose stack is not there; left out";
    }
    return NULL;
}

/* The same of an AGAIN record. */
static const char *decode_again(const uint8_t *data, size_t at,
                                const uint32_t *stacks,
                                struct jr_sample *sample)
{
    struct jp_again_record record;
    struct jp_chunk_header chunk;
    size_t first;

    memcpy(&record, data + at, sizeof record.head);
    if (record.head.words != sizeof record / 8)
        return "repeated sample of a wrong size; left out";
    memcpy(&record, data + at, sizeof record);
    if (!is_known(&record.head))
        return "repeated sample of an unknown kind; left out";
    first = (size_t)record.sample * 8;
    if (first >= at || stacks[record.sample] != SAMPLE_HERE ||
        decode_first(data, first, stacks, sample))
        return "repeated sample of one that is not there; left out";
    memcpy(&chunk, data, sizeof chunk);
    sample->time_ns =
        chunk.opened_ns + ((uint64_t)record.time_high << 32 | record.time);
    sample->weight_ns = (uint64_t)record.weight_high << 32 | record.weight;
    sample->event = JP_SAMPLE_EVENT(record.head.info);
    sample->reason = (uint8_t)JP_SAMPLE_REASON(record.head.info);
    return NULL;
}

static int is_sample(uint8_t type)
{
    return type == JP_RECORD_SAMPLE || type == JP_RECORD_AGAIN;
}

/* The same of a record of a sample of either kind, which is noted in `stacks`
 * where it may be repeated. */
static const char *decode_sample(const uint8_t *data, size_t at,
                                 uint32_t *stacks, struct jr_sample *sample)
{
    const char *wrong;

    if (data[at] == JP_RECORD_AGAIN)
        return decode_again(data, at, stacks, sample);
    wrong = decode_first(data, at, stacks, sample);
    if (!wrong)
        stacks[at / 8] = SAMPLE_HERE;
    return wrong;
}

static void read_sample(struct cursor *cursor, size_t at)
{
    struct jr_run *run = cursor->run;
    struct jr_chunk *chunk = &cursor->chunk;
    struct jr_sample sample;
    const char *wrong =
        decode_sample(cursor->data, at, cursor->reader->stacks, &sample);

    if (wrong) {
        damage(cursor, at, wrong);
        return;
    }
    if (sample.time_ns < run->header.cleared_ns)
        return;
    run->events |= 1U << sample.event;
    if (chunk->nsamples == 0)
        chunk->tid = sample.tid;
    if (chunk->nsamples == 0 || sample.time_ns < chunk->first_ns)
        chunk->first_ns = sample.time_ns;
    if (sample.time_ns > chunk->last_ns)
        chunk->last_ns = sample.time_ns;
    chunk->nsamples++;
    jr_sums_add(&run->sums,
                &(struct jr_sum){.samples = 1,
                                 .weight_ns = sample.weight_ns,
                                 .first_ns = sample.time_ns,
                                 .last_ns = sample.time_ns,
                                 .stack = sample.stack,
                                 .event = sample.event,
                                 .reason = sample.reason},
                sample.tid);
    if (sample.event != JP_EVENT_CPU && sample.event != JP_EVENT_WALL_RUNNING)
        return;
    if (__builtin_add_overflow(run->cpu_ns, sample.weight_ns, &run->cpu_ns))
        run->cpu_ns = UINT64_MAX;
    if (sample.time_ns > run->header.cpu_read_ns &&
        __builtin_add_overflow(run->late_ns, sample.weight_ns, &run->late_ns))
        run->late_ns = UINT64_MAX;
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
    /* The text is to stay one line of the map, so newlines in it become
     * blanks. */
    for (size_t i = 0; i < record.length; i++)
        if (run->text[run->ntext + i] == '\n')
            run->text[run->ntext + i] = ' ';
    run->ntext += record.length;
    run->text[run->ntext++] = '\n';
}

static void read_mark(struct cursor *cursor, size_t at)
{
    struct jp_mark_record record;
    struct jr_run *run = cursor->run;

    memcpy(&record, cursor->data + at, sizeof record.head);
    if (record.head.words < 3) {
        damage(cursor, at, "mark too short; left out");
        return;
    }
    memcpy(&record, cursor->data + at, JP_MARK_RECORD_SIZE);
    if (record.length == 0 || record.length > JP_MARK_NAME_MAX ||
        record.head.words != (JP_MARK_RECORD_SIZE + record.length + 7) / 8 ||
        record.head.info >= JP_MARK_KIND_COUNT ||
        memchr(cursor->data + at + JP_MARK_RECORD_SIZE, '\0', record.length)) {
        damage(cursor, at, "mark of a wrong name or kind; left out");
        return;
    }
    if (record.time_ns < run->header.cleared_ns)
        return;
    *JR_PUSH(run->marks, run->nmarks, run->marks_room) =
        (struct jr_mark){.time_ns = record.time_ns,
                         .tid = record.tid,
                         .kind = record.head.info,
                         .length = (uint8_t)record.length,
                         .name = run->nmark_names};
    run->mark_names = jr_grow(run->mark_names, run->nmark_names + record.length,
                              &run->mark_names_room, 1);
    memcpy(run->mark_names + run->nmark_names,
           cursor->data + at + JP_MARK_RECORD_SIZE, record.length);
    run->nmark_names += record.length;
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
    else if (is_sample(head.type))
        read_sample(cursor, at);
    else if (head.type == JP_RECORD_TEXT)
        read_text(cursor, at);
    else if (head.type == JP_RECORD_MARK)
        read_mark(cursor, at);
    return size;
}

/* The STACK record at `at`, if its size is sound.  Returns 0 with it in
 * *record, or -1. */
static int stack_at(const struct cursor *cursor, size_t at,
                    struct jp_stack_record *record)
{
    if (cursor->size < sizeof *record || at > cursor->size - sizeof *record)
        return -1;
    memcpy(record, cursor->data + at, sizeof *record);
    return record->head.type == JP_RECORD_STACK &&
                   record->head.words == 2 + record->count &&
                   (size_t)record->head.words * 8 <= cursor->size - at
               ? 0
               : -1;
}

/* The hash of the `wanted` root-most frames of the stack at `at`; 0 where that
 * takes long to know. */
static uint64_t hash_of_shared(const struct cursor *cursor, size_t at,
                               uint32_t wanted)
{
    struct jp_stack_record record;

    for (int i = 0; i < BASES_MOST && wanted > 0; i++) {
        if (stack_at(cursor, at, &record) != 0 ||
            wanted > (uint32_t)record.count + record.shared)
            break;
        if (wanted > record.shared)
            return cursor->reader
                ->hashes[at / 8 + 2 + record.count + record.shared - wanted];
        at = (size_t)record.base * 8;
    }
    return 0;
}

/* Hashes the stack at `at`, which has a sound size; returns the hash. */
static uint64_t hash_stack(const struct cursor *cursor, size_t at,
                           const struct jp_stack_record *record)
{
    uint64_t *hashes = cursor->reader->hashes + at / 8 + 2;
    uint64_t hash =
        hash_of_shared(cursor, (size_t)record->base * 8, record->shared);
    uint64_t address = 0, caller = hash;

    for (uint32_t i = record->count; i-- > 0;) {
        memcpy(&address, cursor->data + at + sizeof *record + 8 * (size_t)i,
               sizeof address);
        caller = hash;
        hash = hashes[i] = jr_stacks_hash(caller, address - 1);
    }
    return record->count ? jr_stacks_hash(caller, address) : hash;
}

/* Goes through the chunk's stacks before they are read, so that what is known
 * of them is on its way: each would be three misses of the cache.  All of this
 * is a guess, right of records that are sound and have no gap. */
static void look_ahead(const struct cursor *cursor)
{
    struct jr_chunk_reader *reader = cursor->reader;
    const struct jr_run *run = cursor->run;
    struct jp_stack_record record;
    size_t count = 0, size;

    for (size_t at = JP_CHUNK_HEADER_SIZE;
         at + sizeof record.head <= cursor->size; at += size) {
        memcpy(&record.head, cursor->data + at, sizeof record.head);
        size = (size_t)record.head.words * 8;
        if (record.head.type == 0 || size == 0)
            break;
        if (stack_at(cursor, at, &record) != 0)
            continue;
        reader->whole[count] = hash_stack(cursor, at, &record);
        jr_stacks_prefetch(&run->stacks, reader->whole[count++]);
    }
    for (size_t i = 0; i < count; i++) {
        reader->guesses[i] = jr_stacks_guess(&run->stacks, reader->whole[i]);
        jr_sums_prefetch(&run->sums, reader->guesses[i]);
    }
    for (size_t i = 0; i < count; i++)
        jr_sums_prefetch_first(&run->sums, reader->guesses[i]);
}

static void keep_chunk(struct jr_run *run, const struct jr_chunk *chunk)
{
    if (chunk->nsamples == 0)
        return;
    if (run->nsamples == 0 || chunk->first_ns < run->first_ns)
        run->first_ns = chunk->first_ns;
    if (chunk->last_ns > run->last_ns)
        run->last_ns = chunk->last_ns;
    run->nsamples += chunk->nsamples;
    *JR_PUSH(run->chunks, run->nchunks, run->chunks_room) = *chunk;
}

void jr_chunk_read(struct jr_chunk_reader *reader, struct jr_run *run,
                   const uint8_t *data, size_t size, uint64_t offset)
{
    struct cursor cursor = {.reader = reader,
                            .run = run,
                            .data = data,
                            .size = size,
                            .offset = offset};
    struct jp_chunk_header head;
    size_t at = JP_CHUNK_HEADER_SIZE, step;

    memcpy(&head, data, sizeof head);
    cursor.chunk = (struct jr_chunk){
        .offset = offset, .seq = head.seq, .records = run->nrecords};
    /* Records of this chunk must not refer to records of the one before. */
    memset(reader->stacks, 0xff, head.size / 8 * sizeof *reader->stacks);
    look_ahead(&cursor);
    while (at + sizeof(struct jp_record) <= size) {
        step = read_record(&cursor, at, head.size);
        if (step == 0)
            break;
        at += step;
    }
    cursor.chunk.end = (uint32_t)at;
    cursor.chunk.nrecords = (uint32_t)(run->nrecords - cursor.chunk.records);
    keep_chunk(run, &cursor.chunk);
    if (at < size && at + sizeof(struct jp_record) > size && data[at])
        damage(&cursor, at,
               "the file ends inside this record; rest of the "
               "chunk is missing");
}

/* Whether the bytes at `data` are still those of the chunk. */
static int is_same(const struct jr_chunk *chunk, const uint8_t *data)
{
    struct jp_chunk_header head;

    memcpy(&head, data, sizeof head);
    return head.magic == JP_CHUNK_MAGIC && head.seq == chunk->seq &&
           head.offset == chunk->offset;
}

size_t jr_chunk_samples(const struct jr_run *run, const struct jr_chunk *chunk,
                        const uint8_t *data, uint32_t *stacks,
                        struct jr_sample *into)
{
    size_t count = 0, record = 0, size;

    if (!is_same(chunk, data))
        return 0;
    memset(stacks, 0xff, (chunk->end + 7) / 8 * sizeof *stacks);
    for (size_t at = JP_CHUNK_HEADER_SIZE; at < chunk->end; at += size) {
        struct jp_record head;

        memcpy(&head, data + at, sizeof head);
        size = (size_t)head.words * 8;
        if (size == 0 || size > chunk->end - at)
            break;
        if (head.type == JP_RECORD_STACK && record < chunk->nrecords)
            stacks[at / 8] = run->records[chunk->records + record++];
        else if (is_sample(head.type) && count < chunk->nsamples &&
                 !decode_sample(data, at, stacks, &into[count]))
            count += into[count].time_ns >= run->header.cleared_ns;
    }
    return count;
}
