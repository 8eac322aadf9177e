/* SPDX-License-Identifier: MIT
 *
 * Merges the chunks of a run.  A chunk is decoded when the walk comes to its
 * first sample and forgotten after its last; those in between stand in a heap.
 * Where the order of threads is enough, one chunk at a time is decoded.
 * Runs in: analyzer. */
#include "walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "chunk.h"
#include "sort.h"

/* A chunk that the walk is in. */
struct open_chunk {
    size_t at, count; /* the next of its samples, and how many it has */
    struct jr_sample *samples;
    size_t room;
};

/* An open chunk in the heap, or one that is spare. */
struct waiting {
    uint64_t time_ns; /* of its next sample */
    uint32_t number;  /* of the chunk in the run */
    uint32_t open;    /* into jr_walk.open */
};

struct jr_walk {
    const struct jr_log *log;
    const struct jr_run *run;
    enum jr_walk_order by;
    uint32_t *order;      /* chunks, each opened in its turn, */
    size_t norder;        /* and how many */
    size_t next;          /* index of the first that was not opened yet */
    struct waiting *heap; /* the earliest first; behind `nheap` spare ones */
    size_t nheap, heap_room, nopen, open_room;
    struct open_chunk *open;
    int taken;        /* samples of heap[0] were given to the caller */
    uint8_t *bytes;   /* room for one chunk */
    uint32_t *stacks; /* scratch */
    uint64_t found;
};

struct chunk_order {
    uint64_t time_ns; /* of the first sample */
    uint32_t number;
    uint32_t tid; /* 0 where samples are wanted in order of time alone */
};

static int by_time(const void *left, const void *right)
{
    const struct chunk_order *a = left, *b = right;

    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Puts `count` chunks in order: those of these numbers, or (NULL) the first
 * ones. */
static uint32_t *order_chunks(const struct jr_run *run, enum jr_walk_order by,
                              const uint32_t *chunks, size_t count)
{
    struct chunk_order *sorted = jr_alloc(count + 1, sizeof *sorted);
    uint32_t *order = jr_alloc(count + 1, sizeof *order);

    for (size_t i = 0; i < count; i++) {
        const uint32_t number = chunks ? chunks[i] : (uint32_t)i;

        sorted[i] = (struct chunk_order){
            run->chunks[number].first_ns, number,
            by == JR_WALK_BY_THREAD ? run->chunks[number].tid : 0};
    }
    qsort(sorted, count, sizeof *sorted, by_time);
    for (size_t i = 0; i < count; i++)
        order[i] = sorted[i].number;
    free(sorted);
    return order;
}

static struct jr_walk *begin(const struct jr_log *log, const struct jr_run *run,
                             enum jr_walk_order by, const uint32_t *chunks,
                             size_t count)
{
    struct jr_walk *walk = jr_alloc(1, sizeof *walk);

    walk->log = log;
    walk->run = run;
    walk->by = by;
    walk->order = order_chunks(run, by, chunks, count);
    walk->norder = count;
    walk->bytes = jr_alloc(JP_CHUNK_MAX, 1);
    walk->stacks = jr_alloc(JR_CHUNK_PLACES, sizeof *walk->stacks);
    return walk;
}

struct jr_walk *jr_walk_begin(const struct jr_log *log,
                              const struct jr_run *run,
                              enum jr_walk_order order)
{
    return begin(log, run, order, NULL, run->nchunks);
}

struct jr_walk *jr_walk_begin_some(const struct jr_log *log,
                                   const struct jr_run *run,
                                   const uint32_t *chunks, size_t count)
{
    return begin(log, run, JR_WALK_BY_TIME, chunks, count);
}

void jr_walk_end(struct jr_walk *walk)
{
    for (size_t i = 0; i < walk->nopen; i++)
        free(walk->open[i].samples);
    free(walk->open);
    free(walk->heap);
    free(walk->order);
    free(walk->bytes);
    free(walk->stacks);
    free(walk);
}

static int is_earlier(const struct waiting *one, const struct waiting *other)
{
    return one->time_ns < other->time_ns ||
           (one->time_ns == other->time_ns && one->number < other->number);
}

/* Puts an entry in the place of heap[0], or below. */
static void sink(struct jr_walk *walk, struct waiting entry)
{
    struct waiting *heap = walk->heap;
    size_t at = 0, child;

    while ((child = 2 * at + 1) < walk->nheap) {
        if (child + 1 < walk->nheap &&
            is_earlier(&heap[child + 1], &heap[child]))
            child++;
        if (!is_earlier(&heap[child], &entry))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

/* Moves the last of the heap to its place. */
static void rise(struct jr_walk *walk)
{
    struct waiting *heap = walk->heap;
    const struct waiting entry = heap[walk->nheap - 1];
    size_t at = walk->nheap - 1;

    for (; at > 0 && is_earlier(&entry, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = entry;
}

/* The bytes of a chunk, or NULL: the file has become shorter. */
static const uint8_t *bytes_of(const struct jr_walk *walk,
                               const struct jr_chunk *chunk)
{
    const struct jr_log_bytes *bytes = &walk->log->bytes;

    if (bytes->data)
        return bytes->data + chunk->offset;
    return jr_file_pread(bytes->fd, walk->bytes, chunk->end, chunk->offset) ==
                   chunk->end
               ? walk->bytes
               : NULL;
}

/* Returns the number of an open_chunk that is free: those stand behind the
 * heap. */
static uint32_t spare_chunk(struct jr_walk *walk)
{
    if (walk->nheap == walk->nopen) {
        walk->heap = jr_grow(walk->heap, walk->nheap, &walk->heap_room,
                             sizeof *walk->heap);
        walk->heap[walk->nheap].open = (uint32_t)walk->nopen;
        *JR_PUSH(walk->open, walk->nopen, walk->open_room) =
            (struct open_chunk){0};
    }
    return walk->heap[walk->nheap].open;
}

/* Opens the next chunk in order, unless nothing is left of it. */
static void open_chunk(struct jr_walk *walk)
{
    const uint32_t number = walk->order[walk->next++];
    const struct jr_chunk *chunk = &walk->run->chunks[number];
    const uint8_t *data = bytes_of(walk, chunk);
    const uint32_t spare = spare_chunk(walk);
    struct open_chunk *open = &walk->open[spare];

    if (!data)
        return;
    if (open->room < chunk->nsamples) {
        free(open->samples);
        open->samples = jr_alloc(chunk->nsamples, sizeof *open->samples);
        open->room = chunk->nsamples;
    }
    open->at = 0;
    open->count =
        jr_chunk_samples(walk->run, chunk, data, walk->stacks, open->samples);
    if (open->count == 0)
        return;
    walk->found += open->count;
    /* The process may have written other samples there since jr_log_read. */
    jr_sort_samples(open->samples, open->count);
    walk->heap[walk->nheap++] =
        (struct waiting){open->samples[0].time_ns, number, spare};
    rise(walk);
}

/* Steps over the samples that the caller was given. */
static void go_on(struct jr_walk *walk)
{
    const struct waiting last = walk->heap[0];
    const struct open_chunk *open = &walk->open[last.open];

    walk->taken = 0;
    if (open->at < open->count) {
        sink(walk, (struct waiting){open->samples[open->at].time_ns,
                                    last.number, last.open});
    } else {
        walk->nheap--;
        sink(walk, walk->heap[walk->nheap]);
        walk->heap[walk->nheap] = last;
    }
}

/* heap[0]'s samples may be given up to the first one of the second in order. */
static struct waiting limit_of(const struct jr_walk *walk)
{
    struct waiting limit = {.time_ns = UINT64_MAX, .number = UINT32_MAX};

    for (size_t i = 1; i < 3 && i < walk->nheap; i++) {
        if (is_earlier(&walk->heap[i], &limit))
            limit = walk->heap[i];
    }
    if (walk->next < walk->norder) {
        const uint32_t number = walk->order[walk->next];
        const struct waiting next = {walk->run->chunks[number].first_ns, number,
                                     0};

        if (is_earlier(&next, &limit))
            limit = next;
    }
    return limit;
}

/* All samples of the next chunk. */
static size_t next_chunk(struct jr_walk *walk, const struct jr_sample **samples)
{
    walk->nheap = 0;
    while (walk->nheap == 0 && walk->next < walk->norder)
        open_chunk(walk);
    if (walk->nheap == 0)
        return 0;
    *samples = walk->open[0].samples;
    return walk->open[0].count;
}

size_t jr_walk_next(struct jr_walk *walk, const struct jr_sample **samples)
{
    struct waiting first, limit;
    struct open_chunk *open;
    size_t from;

    if (walk->run->given) {
        *samples = walk->run->given;
        from = walk->run->nsamples - walk->found;
        walk->found = walk->run->nsamples;
        return from;
    }
    if (walk->by == JR_WALK_BY_THREAD)
        return next_chunk(walk, samples);
    if (walk->taken)
        go_on(walk);
    while (walk->next < walk->norder &&
           (walk->nheap == 0 ||
            walk->run->chunks[walk->order[walk->next]].first_ns <=
                walk->heap[0].time_ns))
        open_chunk(walk);
    if (walk->nheap == 0)
        return 0;
    first = walk->heap[0];
    limit = limit_of(walk);
    open = &walk->open[first.open];
    from = open->at;
    do {
        open->at++;
        if (open->at < open->count)
            first.time_ns = open->samples[open->at].time_ns;
    } while (open->at < open->count && is_earlier(&first, &limit));
    walk->taken = 1;
    *samples = open->samples + from;
    return open->at - from;
}

uint32_t jr_walk_chunk(const struct jr_walk *walk)
{
    return walk->nheap > 0 ? walk->heap[0].number : 0;
}

uint64_t jr_walk_gone(const struct jr_walk *walk)
{
    return walk->run->nsamples - walk->found;
}
