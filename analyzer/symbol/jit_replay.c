/* SPDX-License-Identifier: MIT
 *
 * Replays what the files say in order of time: each piece of code ends the
 * older ones that it touches.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "../base/mem.h"
#include "jit.h"
#include "rankset.h"

/* The pieces of one layer: which of them is alive at each start address.
 * Those alive do not overlap. */
struct alive {
    uint64_t *starts;     /* distinct start addresses, in order */
    size_t count;
    uint32_t *owners;     /* by rank of start: piece, when in `set` */
    struct jr_rankset set;
    size_t last;          /* rank found last */
};

struct replay {
    struct jr_jit *jit;
    struct alive layers[JR_LAYERS];
};

static int by_value(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return a < b ? -1 : a > b;
}

static int by_time(const void *one, const void *other)
{
    const struct jr_jit_piece *a = one, *b = other;

    if (a->from_ns != b->from_ns)
        return a->from_ns < b->from_ns ? -1 : 1;
    if (a->layer != b->layer)
        return a->layer < b->layer ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Sorts what is mostly in order already. */
static void sort(void *items, size_t count, size_t size,
                 int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < count; i++) {
        char *item = (char *)items + i * size;

        if (compare(item - size, item) > 0) {
            qsort(items, count, size, compare);
            return;
        }
    }
}

static void init_alive(struct alive *alive, const struct jr_jit *jit,
                       unsigned layer)
{
    size_t total = 0, kept = 0;

    for (size_t i = 0; i < jit->npieces; i++)
        total += jit->pieces[i].layer == layer;
    alive->starts = jr_alloc(total, sizeof *alive->starts);
    for (size_t i = 0; i < jit->npieces; i++) {
        if (jit->pieces[i].layer == layer)
            alive->starts[alive->count++] = jit->pieces[i].start;
    }
    sort(alive->starts, alive->count, sizeof *alive->starts, by_value);
    for (size_t i = 0; i < alive->count; i++) {
        if (kept == 0 || alive->starts[kept - 1] != alive->starts[i])
            alive->starts[kept++] = alive->starts[i];
    }
    alive->count = kept;
    alive->owners = jr_alloc(kept, sizeof *alive->owners);
    jr_rankset_init(&alive->set, kept);
}

static void free_alive(struct alive *alive)
{
    jr_rankset_free(&alive->set);
    free(alive->starts);
    free(alive->owners);
}

/* The rank of the first start at or above `start`. */
static size_t rank_of(struct alive *alive, uint64_t start)
{
    size_t from = 0, to = alive->count;
    size_t next = alive->last + 1;

    /* Compilers fill their memory in order. */
    if (next < to && alive->starts[next] == start) {
        alive->last = next;
        return next;
    }
    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (alive->starts[middle] < start)
            from = middle + 1;
        else
            to = middle;
    }
    alive->last = from;
    return from;
}

static struct jr_jit_piece *owner_at(const struct replay *replay,
                                     const struct alive *alive, size_t rank)
{
    return &replay->jit->pieces[alive->owners[rank]];
}

/* The piece that is alive at `rank` ends. */
static void end_at(struct replay *replay, struct alive *alive, size_t rank,
                   uint64_t time_ns)
{
    struct jr_jit_piece *old = owner_at(replay, alive, rank);

    if (time_ns < old->from_ns)
        time_ns = old->from_ns;
    if (time_ns < old->until_ns)
        old->until_ns = time_ns;
    replay->jit->files[old->file]->alive--;
    jr_rankset_remove(&alive->set, rank);
}

/* Ends what of a layer is alive in [start, end). */
static void end_range(struct replay *replay, struct alive *alive,
                      uint64_t start, uint64_t end, uint64_t time_ns)
{
    size_t rank, at;

    if (alive->count == 0)
        return;
    rank = rank_of(alive, start);
    for (at = jr_rankset_next(&alive->set, rank);
         at != JR_RANK_NONE && alive->starts[at] < end;
         at = jr_rankset_next(&alive->set, at))
        end_at(replay, alive, at, time_ns);
    /* Only the nearest below can reach up. */
    at = jr_rankset_before(&alive->set, rank);
    if (at != JR_RANK_NONE &&
        jr_jit_end(owner_at(replay, alive, at)) > start)
        end_at(replay, alive, at, time_ns);
}

static const struct jr_perfmap_line *line_of(const struct jr_jit *jit,
                                             const struct jr_jit_piece *piece)
{
    return &jit->files[piece->file]->map.lines[piece->offset];
}

/* Does the file say twice that this is there? */
static int is_repeated(const struct jr_jit *jit,
                       const struct jr_jit_piece *one,
                       const struct jr_jit_piece *other)
{
    const struct jr_perfmap_line *a, *b;

    if (one->start != other->start || one->size != other->size ||
        one->file != other->file || jit->files[one->file]->is_dump)
        return 0;
    a = line_of(jit, one);
    b = line_of(jit, other);
    return a->length == b->length && !memcmp(a->name, b->name, a->length);
}

/* The piece at `start` in the layer, or NULL. */
static struct jr_jit_piece *alive_at(const struct replay *replay,
                                     struct alive *alive, uint64_t start)
{
    size_t rank = rank_of(alive, start);

    if (rank >= alive->count || alive->starts[rank] != start ||
        jr_rankset_next(&alive->set, rank) != rank)
        return NULL;
    return owner_at(replay, alive, rank);
}

/* The moved code is known from where it was; where nothing was known there,
 * the piece only ends others. */
static void take_moved(struct replay *replay, struct jr_jit_piece *piece)
{
    struct alive *alive = &replay->layers[piece->layer];
    uint64_t old = piece->until_ns, end;
    const struct jr_jit_piece *from = alive_at(replay, alive, old);

    piece->until_ns = UINT64_MAX;
    if (from) {
        piece->file = from->file;
        piece->offset = from->offset;
        piece->back = from->back;
        piece->size = from->size;
    } else {
        piece->void_ = 1;
    }
    if (__builtin_add_overflow(old, piece->size, &end))
        end = UINT64_MAX;
    for (unsigned i = piece->layer; i < JR_LAYERS; i++)
        end_range(replay, &replay->layers[i], old, end, piece->from_ns);
    /* It may be longer there than the record says. */
    if (__builtin_add_overflow(piece->start, piece->size, &end))
        piece->void_ = 1;
}

/* Ends all that is alive of a file. */
static void close_file(struct replay *replay, const struct jr_jit_piece *piece)
{
    struct alive *alive = &replay->layers[piece->layer];
    const struct jr_jit_origin *file = replay->jit->files[piece->file];
    size_t at = 0;

    while (file->alive && alive->count) {
        at = jr_rankset_next(&alive->set, at);
        if (at == JR_RANK_NONE)
            break;
        if (owner_at(replay, alive, at)->file == piece->file)
            end_at(replay, alive, at, piece->from_ns);
        at++;
    }
}

static void replay_piece(struct replay *replay, size_t index)
{
    struct jr_jit_piece *piece = &replay->jit->pieces[index], *there;
    struct alive *alive = &replay->layers[piece->layer];
    uint64_t end, since;
    size_t rank;

    if (piece->event == JR_JIT_CLOSED) {
        close_file(replay, piece);
        piece->void_ = 1;
        return;
    }
    if (piece->event == JR_JIT_MOVED)
        take_moved(replay, piece);
    there = alive_at(replay, alive, piece->start);
    if (there && is_repeated(replay->jit, there, piece)) {
        piece->void_ = 1;
        return;
    }
    if (__builtin_add_overflow(piece->start, piece->size, &end))
        end = UINT64_MAX;
    since = jr_jit_since(replay->jit, piece);
    for (unsigned i = piece->layer; i < JR_LAYERS; i++)
        end_range(replay, &replay->layers[i], piece->start, end, since);
    if (piece->void_)
        return;
    rank = rank_of(alive, piece->start);
    alive->owners[rank] = (uint32_t)index;
    jr_rankset_add(&alive->set, rank);
    replay->jit->files[piece->file]->alive++;
}

void jr_jit_replay(struct jr_jit *jit)
{
    struct replay replay = {.jit = jit};
    size_t kept = 0;

    for (size_t i = 0; i < jit->npieces; i++) {
        if (!jit->pieces[i].void_)
            jit->pieces[kept++] = jit->pieces[i];
    }
    jit->npieces = kept;
    sort(jit->pieces, jit->npieces, sizeof *jit->pieces, by_time);
    for (unsigned i = 0; i < JR_LAYERS; i++)
        init_alive(&replay.layers[i], jit, i);
    for (size_t i = 0; i < jit->npieces; i++)
        replay_piece(&replay, i);
    for (unsigned i = 0; i < JR_LAYERS; i++)
        free_alive(&replay.layers[i]);
}
