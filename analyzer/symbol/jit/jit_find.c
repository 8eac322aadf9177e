/* SPDX-License-Identifier: MIT
 *
 * Finds the JIT code at an address and a time.
 * Runs in: analyzer. */
#include "base/mem.h"
#include "base/search.h"
#include "jit.h"

#define BLOCK 16U /* pieces a leaf of the tree */
#define LINE 64U  /* bytes that the processor fetches */

static uint64_t block_end(const struct jr_jit *jit, size_t block)
{
    uint64_t highest = 0;

    for (size_t i = block * BLOCK; i < (block + 1) * BLOCK && i < jit->npieces;
         i++) {
        uint64_t end = jr_jit_end(&jit->pieces[i]);

        if (end > highest)
            highest = end;
    }
    return highest;
}

void jr_jit_index(struct jr_jit *jit)
{
    size_t blocks = (jit->npieces + BLOCK - 1) / BLOCK, leaves = 1;

    if (jit->npieces == 0)
        return;
    jr_jit_sort(jit->pieces, jit->npieces);
    while (leaves < blocks)
        leaves *= 2;
    jit->leaves = leaves;
    jit->ends = jr_alloc(leaves * 2, sizeof *jit->ends);
    jit->starts = jr_alloc(blocks, sizeof *jit->starts);
    for (size_t i = 0; i < blocks; i++) {
        jit->ends[leaves + i] = block_end(jit, i);
        jit->starts[i] = jit->pieces[i * BLOCK].start;
    }
    for (size_t i = leaves - 1; i > 0; i--) {
        uint64_t left = jit->ends[2 * i], right = jit->ends[2 * i + 1];

        jit->ends[i] = left > right ? left : right;
    }
}

uint64_t jr_jit_since(const struct jr_jit *jit,
                      const struct jr_jit_piece *piece)
{
    const struct jr_jit_origin *file = jit->files[piece->file];
    size_t from;

    if (piece->layer == JR_LAYER_EXACT)
        return piece->from_ns;
    from = JR_FIRST_NOT(file->nwindows, i,
                        file->windows[i].from_ns < piece->from_ns);
    return from < file->nwindows &&
                   file->windows[from].from_ns == piece->from_ns
               ? file->windows[from].since_ns
               : piece->from_ns;
}

struct query {
    const struct jr_jit *jit;
    uint64_t address, time_ns;
    uint64_t ended_ns; /* the last time before when a piece ended */
    struct jr_jit_span *span;
    const struct jr_jit_piece *live[JR_LAYERS];
    const struct jr_jit_piece *later;
    int all; /* what is live in all layers is asked for */
};

/* Narrows the answer's span to the side of `edge` that the time is on. */
static void narrow(struct query *query, uint64_t edge)
{
    if (edge <= query->time_ns) {
        if (edge > query->span->from_ns)
            query->span->from_ns = edge;
    } else if (edge < query->span->until_ns) {
        query->span->until_ns = edge;
    }
}

/* Is `one` newer than `other`?  At one time, by its place in the files. */
static int is_newer(const struct jr_jit_piece *one,
                    const struct jr_jit_piece *other)
{
    if (one->from_ns != other->from_ns)
        return one->from_ns > other->from_ns;
    if (one->file != other->file)
        return one->file > other->file;
    return one->offset > other->offset;
}

/* Of two later ones code goes before bytecode, then the earlier one; of those
 * that came at one time, the newest, as the others were over by then. */
static int is_sooner(const struct jr_jit_piece *one,
                     const struct jr_jit_piece *other)
{
    int bytecode = one->layer == JR_LAYER_BYTECODE;

    if (bytecode != (other->layer == JR_LAYER_BYTECODE))
        return !bytecode;
    if (one->from_ns != other->from_ns)
        return one->from_ns < other->from_ns;
    return is_newer(one, other);
}

static void consider(struct query *query, const struct jr_jit_piece *piece)
{
    const struct jr_jit_piece **live = &query->live[piece->layer];

    if (!piece->always)
        narrow(query, piece->from_ns);
    narrow(query, piece->until_ns);
    if (piece->always || piece->from_ns <= query->time_ns) {
        if (query->time_ns >= piece->until_ns) {
            if (piece->until_ns > query->ended_ns)
                query->ended_ns = piece->until_ns;
        } else if (!*live || is_newer(piece, *live)) {
            *live = piece;
        }
    } else if (!query->later || is_sooner(piece, query->later)) {
        query->later = piece;
    }
}

/* Considers the pieces at the address below `node`, whose blocks start at
 * `first` and are `width`. */
static void search(struct query *query, size_t node, size_t first, size_t width)
{
    const struct jr_jit *jit = query->jit;
    size_t at = first * BLOCK;

    if (at >= jit->npieces || jit->ends[node] <= query->address ||
        jit->starts[first] > query->address)
        return;
    if (width > 1) {
        search(query, 2 * node, first, width / 2);
        search(query, 2 * node + 1, first + width / 2, width / 2);
        return;
    }
    /* Of the first layer one piece at most is live there and then. */
    if (query->live[0] && !query->all)
        return;
    /* All of the block at once, which is nowhere near. */
    for (size_t i = 0; i < BLOCK * sizeof *jit->pieces; i += LINE)
        __builtin_prefetch((const char *)&jit->pieces[at] + i);
    for (size_t end = at + BLOCK; at < end && at < jit->npieces; at++) {
        if (jit->pieces[at].start <= query->address &&
            jr_jit_end(&jit->pieces[at]) > query->address)
            consider(query, &jit->pieces[at]);
    }
}

/* Are the two of the same code, under the same name? */
static int is_same(struct jr_jit *jit, struct jr_strings *strings,
                   const struct jr_jit_piece *piece,
                   const struct jr_jit_piece *other)
{
    const struct jr_jit_text *one = jr_jit_text(jit, strings, piece);
    const struct jr_jit_text *two = jr_jit_text(jit, strings, other);

    return one && two && piece->start == other->start &&
           piece->size == other->size && one->name == two->name;
}

/* A query for the pieces at an address in all layers. */
static struct query query_of_all(struct jr_jit *jit, uint64_t address,
                                 uint64_t time_ns, struct jr_jit_span *span)
{
    return (struct query){.jit = jit,
                          .address = address,
                          .time_ns = time_ns,
                          .span = span,
                          .all = 1};
}

int jr_jit_agrees(struct jr_jit *jit, struct jr_strings *strings,
                  const struct jr_jit_piece *piece, uint64_t address,
                  uint64_t time_ns, struct jr_jit_span *span)
{
    struct query query = query_of_all(jit, address, time_ns, span);
    const struct jr_jit_piece *other;

    search(&query, 1, 0, jit->leaves);
    other = query.live[JR_LAYER_SIGHTED];
    if (!other)
        other = query.later;
    return other && other->layer == JR_LAYER_SIGHTED &&
           is_same(jit, strings, piece, other);
}

const struct jr_jit_piece *jr_jit_newer(struct jr_jit *jit,
                                        struct jr_strings *strings,
                                        const struct jr_jit_piece *piece,
                                        uint64_t address, uint64_t time_ns,
                                        struct jr_jit_span *span)
{
    const struct jr_jit_origin *file = jit->files[piece->file];
    struct query query = query_of_all(jit, address, time_ns, span);
    const struct jr_jit_piece *other;

    if (piece->layer != JR_LAYER_EXACT || !file->cut)
        return NULL;
    search(&query, 1, 0, jit->leaves);
    other = query.live[JR_LAYER_SIGHTED];
    if (!other || other->always || jr_jit_since(jit, other) <= file->last_ns)
        return NULL;
    return is_same(jit, strings, piece, other) ? NULL : other;
}

const struct jr_jit_piece *jr_jit_find(const struct jr_jit *jit,
                                       uint64_t address, uint64_t time_ns,
                                       struct jr_jit_span *span, int *late)
{
    struct query query = {
        .jit = jit, .address = address, .time_ns = time_ns, .span = span};

    *late = 0;
    if (jit->npieces == 0)
        return NULL;
    search(&query, 1, 0, jit->leaves);
    for (size_t i = 0; i < JR_LAYERS; i++) {
        if (query.live[i])
            return query.live[i];
    }
    /* One took the other's place between two looks: which was it? */
    if (query.later && query.ended_ns &&
        jr_jit_since(jit, query.later) <= query.ended_ns)
        return NULL;
    *late = query.later != NULL;
    return query.later;
}
