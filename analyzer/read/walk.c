/* SPDX-License-Identifier: MIT
 *
 * Merges the chunks of a run.  A chunk is decoded when the walk comes to its
 * first sample and forgotten after its last; those in between stand in a heap.
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
    uint64_t time_ns; /* of its next sample */
    size_t number;    /* in the run */
    size_t at, count; /* the next of its samples, and how many it has */
    struct jr_sample *samples;
    size_t room;
};

struct jr_walk {
    const struct jr_log *log;
    const struct jr_run *run;
    uint32_t *order; /* chunks by the time of their first sample */
    size_t next;     /* of them the first that was not opened */
    struct open_chunk *
        *heap; /* the earliest first; behind `nheap` spare ones */
    size_t nheap, nchunks, heap_room;
    int taken;        /* samples of heap[0] were given to the caller */
    uint8_t *bytes;   /* room for one chunk */
    uint32_t *stacks; /* scratch */
    uint64_t found;
};

struct chunk_order {
    uint64_t time_ns;
    uint32_t number;
};

static int by_time(const void *left, const void *right)
{
    const struct chunk_order *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static uint32_t *order_chunks(const struct jr_run *run)
{
    struct chunk_order *sorted = jr_alloc(run->nchunks + 1, sizeof *sorted);
    uint32_t *order = jr_alloc(run->nchunks + 1, sizeof *order);

    for (size_t i = 0; i < run->nchunks; i++)
        sorted[i] = (struct chunk_order){run->chunks[i].first_ns, (uint32_t)i};
    qsort(sorted, run->nchunks, sizeof *sorted, by_time);
    for (size_t i = 0; i < run->nchunks; i++)
        order[i] = sorted[i].number;
    free(sorted);
    return order;
}

struct jr_walk *jr_walk_begin(const struct jr_log *log,
                              const struct jr_run *run)
{
    struct jr_walk *walk = jr_alloc(1, sizeof *walk);

    walk->log = log;
    walk->run = run;
    walk->order = order_chunks(run);
    walk->bytes = jr_alloc(JP_CHUNK_MAX, 1);
    walk->stacks = jr_alloc(JR_CHUNK_PLACES, sizeof *walk->stacks);
    return walk;
}

void jr_walk_end(struct jr_walk *walk)
{
    for (size_t i = 0; i < walk->nchunks; i++) {
        free(walk->heap[i]->samples);
        free(walk->heap[i]);
    }
    free(walk->heap);
    free(walk->order);
    free(walk->bytes);
    free(walk->stacks);
    free(walk);
}

static int is_earlier(const struct open_chunk *one,
                      const struct open_chunk *other)
{
    return one->time_ns < other->time_ns ||
           (one->time_ns == other->time_ns && one->number < other->number);
}

static void swap(struct jr_walk *walk, size_t one, size_t other)
{
    struct open_chunk *kept = walk->heap[one];

    walk->heap[one] = walk->heap[other];
    walk->heap[other] = kept;
}

/* Moves heap[0] to its place. */
static void sink(struct jr_walk *walk)
{
    size_t at = 0, child;

    while ((child = 2 * at + 1) < walk->nheap) {
        if (child + 1 < walk->nheap &&
            is_earlier(walk->heap[child + 1], walk->heap[child]))
            child++;
        if (!is_earlier(walk->heap[child], walk->heap[at]))
            return;
        swap(walk, at, child);
        at = child;
    }
}

/* Moves the last of the heap to its place. */
static void rise(struct jr_walk *walk)
{
    size_t at = walk->nheap - 1;

    for (; at > 0 && is_earlier(walk->heap[at], walk->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        swap(walk, at, (at - 1) / 2);
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

/* A chunk that none is in, behind the heap. */
static struct open_chunk *spare_chunk(struct jr_walk *walk)
{
    if (walk->nheap == walk->nchunks)
        *JR_PUSH(walk->heap, walk->nchunks, walk->heap_room) =
            jr_alloc(1, sizeof **walk->heap);
    return walk->heap[walk->nheap];
}

/* Opens the next chunk in order. */
static void open_chunk(struct jr_walk *walk)
{
    const size_t number = walk->order[walk->next++];
    const struct jr_chunk *chunk = &walk->run->chunks[number];
    const uint8_t *data = bytes_of(walk, chunk);
    struct open_chunk *open = spare_chunk(walk);

    if (!data)
        return;
    if (open->room < chunk->nsamples) {
        free(open->samples);
        open->samples = jr_alloc(chunk->nsamples, sizeof *open->samples);
        open->room = chunk->nsamples;
    }
    open->number = number;
    open->at = 0;
    open->count =
        jr_chunk_samples(walk->run, chunk, data, walk->stacks, open->samples);
    if (open->count == 0)
        return;
    walk->found += open->count;
    /* A chunk that is being written may hold others than were seen. */
    jr_sort_samples(open->samples, open->count);
    open->time_ns = open->samples[0].time_ns;
    walk->nheap++;
    rise(walk);
}

/* Goes on behind the samples that were given. */
static void go_on(struct jr_walk *walk)
{
    struct open_chunk *first = walk->heap[0];

    walk->taken = 0;
    if (first->at < first->count) {
        first->time_ns = first->samples[first->at].time_ns;
    } else {
        walk->nheap--;
        swap(walk, 0, walk->nheap);
    }
    if (walk->nheap > 0)
        sink(walk);
}

/* Up to which sample heap[0] may be given: that of the second. */
static struct open_chunk limit_of(const struct jr_walk *walk)
{
    struct open_chunk limit = {.time_ns = UINT64_MAX, .number = SIZE_MAX};

    for (size_t i = 1; i < 3 && i < walk->nheap; i++) {
        if (is_earlier(walk->heap[i], &limit))
            limit = *walk->heap[i];
    }
    if (walk->next < walk->run->nchunks) {
        struct open_chunk next = {.number = walk->order[walk->next]};

        next.time_ns = walk->run->chunks[next.number].first_ns;
        if (is_earlier(&next, &limit))
            limit = next;
    }
    return limit;
}

size_t jr_walk_next(struct jr_walk *walk, const struct jr_sample **samples)
{
    struct open_chunk *first, limit;
    size_t from;

    if (walk->taken)
        go_on(walk);
    while (walk->next < walk->run->nchunks &&
           (walk->nheap == 0 ||
            walk->run->chunks[walk->order[walk->next]].first_ns <=
                walk->heap[0]->time_ns))
        open_chunk(walk);
    if (walk->nheap == 0)
        return 0;
    first = walk->heap[0];
    limit = limit_of(walk);
    from = first->at;
    do {
        first->at++;
        if (first->at < first->count)
            first->time_ns = first->samples[first->at].time_ns;
    } while (first->at < first->count && is_earlier(first, &limit));
    walk->taken = 1;
    *samples = first->samples + from;
    return first->at - from;
}

uint64_t jr_walk_gone(const struct jr_walk *walk)
{
    return walk->run->nsamples - walk->found;
}
