/* SPDX-License-Identifier: MIT
 *
 * Replays what the files say in order of time: each piece of code ends the
 * older ones that it touches.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rankset.h"
#include "base/search.h"
#include "jit.h"

/* The pieces of one layer: which of them is alive at each start address.
 * Those alive do not overlap. */
struct alive {
    uint64_t *starts; /* distinct start addresses, in order */
    size_t count;
    uint32_t *owners; /* by rank of start: piece, when in `set` */
    struct jr_rankset set;
};

struct replay {
    struct jr_jit *jit;
    uint32_t *ranks; /* of each piece's start in its layer */
    struct alive layers[JR_LAYERS];
};

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

/* Sorts the pieces by time, which are mostly in order already. */
static void sort_pieces(struct jr_jit_piece *pieces, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (by_time(&pieces[i - 1], &pieces[i]) > 0) {
            qsort(pieces, count, sizeof *pieces, by_time);
            return;
        }
    }
}

/* A start address and the piece that it is of. */
struct start {
    uint64_t address;
    uint32_t piece;
};

#define DIGIT 11U /* bits that are sorted by in one go */
#define DIGITS (1U << DIGIT)

/* Puts `starts` in order by the digit above `shift`, into `to`. */
static void sort_digit(const struct start *starts, size_t count, unsigned shift,
                       struct start *to)
{
    size_t ends[DIGITS] = {0}, at = 0;

    for (size_t i = 0; i < count; i++)
        ends[starts[i].address >> shift & (DIGITS - 1)]++;
    for (size_t i = 0; i < DIGITS; i++) {
        at += ends[i];
        ends[i] = at - ends[i];
    }
    for (size_t i = 0; i < count; i++)
        to[ends[starts[i].address >> shift & (DIGITS - 1)]++] = starts[i];
}

/* Sorts starts by address, unless they are in order. */
static struct start *sort_starts(struct start *starts, size_t count)
{
    struct start *other;
    uint64_t differ = 0;
    int in_order = 1;

    for (size_t i = 1; i < count; i++) {
        differ |= starts[i].address ^ starts[i - 1].address;
        in_order &= starts[i - 1].address <= starts[i].address;
    }
    if (in_order)
        return starts;
    other = jr_alloc(count, sizeof *other);
    for (unsigned shift = 0; shift < 64; shift += DIGIT) {
        struct start *sorted = other;

        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_digit(starts, count, shift, sorted);
        other = starts;
        starts = sorted;
    }
    free(other);
    return starts;
}

/* Finds the distinct starts of a layer, and the ranks of its pieces. */
static void init_alive(struct replay *replay, unsigned layer)
{
    const struct jr_jit *jit = replay->jit;
    struct alive *alive = &replay->layers[layer];
    struct start *starts;
    size_t total = 0, at = 0;

    for (size_t i = 0; i < jit->npieces; i++)
        total += jit->pieces[i].layer == layer;
    starts = jr_alloc(total, sizeof *starts);
    for (size_t i = 0; i < jit->npieces; i++) {
        if (jit->pieces[i].layer == layer)
            starts[at++] = (struct start){jit->pieces[i].start, (uint32_t)i};
    }
    starts = sort_starts(starts, total);
    alive->starts = jr_alloc(total, sizeof *alive->starts);
    for (size_t i = 0; i < total; i++) {
        if (i == 0 || starts[i - 1].address != starts[i].address)
            alive->starts[alive->count++] = starts[i].address;
        replay->ranks[starts[i].piece] = (uint32_t)alive->count - 1;
    }
    free(starts);
    alive->owners = jr_alloc(alive->count, sizeof *alive->owners);
    jr_rankset_init(&alive->set, alive->count);
}

static void free_alive(struct alive *alive)
{
    jr_rankset_free(&alive->set);
    free(alive->starts);
    free(alive->owners);
}

/* The rank of the first start at or above `start`. */
static size_t rank_of(const struct alive *alive, uint64_t start)
{
    return JR_FIRST_NOT(alive->count, i, alive->starts[i] < start);
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

/* Addresses, and the rank of the first one in the layer of a piece. */
struct range {
    uint64_t start, end;
    size_t rank;
};

/* Ends what of a layer is alive in the range. */
static void end_range(struct replay *replay, struct alive *alive,
                      const struct range *range, uint64_t time_ns)
{
    size_t rank = range->rank, at;

    for (at = jr_rankset_next(&alive->set, rank);
         at != JR_RANK_NONE && alive->starts[at] < range->end;
         at = jr_rankset_next(&alive->set, at))
        end_at(replay, alive, at, time_ns);
    /* Only the nearest below can reach up. */
    at = jr_rankset_before(&alive->set, rank);
    if (at != JR_RANK_NONE &&
        jr_jit_end(owner_at(replay, alive, at)) > range->start)
        end_at(replay, alive, at, time_ns);
}

/* Ends what is alive in the range in `layer` and those behind it. */
static void end_layers(struct replay *replay, unsigned layer,
                       struct range range, uint64_t time_ns)
{
    for (unsigned i = layer; i < JR_LAYERS; i++) {
        struct alive *alive = &replay->layers[i];

        if (jr_rankset_next(&alive->set, 0) == JR_RANK_NONE)
            continue;
        if (i != layer)
            range.rank = rank_of(alive, range.start);
        end_range(replay, alive, &range, time_ns);
    }
}

static const struct jr_perfmap_line *line_of(const struct jr_jit *jit,
                                             const struct jr_jit_piece *piece)
{
    return &jit->files[piece->file]->map.lines[piece->offset];
}

/* Does the file say twice that this is there? */
static int is_repeated(const struct jr_jit *jit, const struct jr_jit_piece *one,
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

/* The piece at `start` in the layer, whose rank that is, or NULL. */
static struct jr_jit_piece *alive_at(const struct replay *replay,
                                     const struct alive *alive, uint64_t start,
                                     size_t rank)
{
    if (rank >= alive->count || alive->starts[rank] != start ||
        jr_rankset_next(&alive->set, rank) != rank)
        return NULL;
    return owner_at(replay, alive, rank);
}

/* The moved code is known from where it was; where nothing was known there,
 * the piece only ends others. */
static void take_moved(struct replay *replay, struct jr_jit_piece *piece)
{
    const struct alive *alive = &replay->layers[piece->layer];
    struct range old = {.start = piece->until_ns,
                        .rank = rank_of(alive, piece->until_ns)};
    const struct jr_jit_piece *from =
        alive_at(replay, alive, old.start, old.rank);
    uint64_t end;

    piece->until_ns = UINT64_MAX;
    if (from) {
        piece->file = from->file;
        piece->offset = from->offset;
        piece->back = from->back;
        piece->size = from->size;
    } else {
        piece->void_ = 1;
    }
    if (__builtin_add_overflow(old.start, piece->size, &old.end))
        old.end = UINT64_MAX;
    end_layers(replay, piece->layer, old, piece->from_ns);
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
    struct range range = {.start = piece->start, .rank = replay->ranks[index]};
    uint64_t since = jr_jit_since(replay->jit, piece);

    if (piece->event == JR_JIT_CLOSED) {
        close_file(replay, piece);
        piece->void_ = 1;
        return;
    }
    if (piece->event == JR_JIT_MOVED)
        take_moved(replay, piece);
    there = alive_at(replay, alive, piece->start, range.rank);
    if (there && is_repeated(replay->jit, there, piece)) {
        if (there->always || there->from_ns == piece->from_ns) {
            piece->void_ = 1;
            return;
        }
        /* The same again, or other code of that name in its place.  The name
         * holds at all times between. */
        since = piece->from_ns;
    }
    if (__builtin_add_overflow(piece->start, piece->size, &range.end))
        range.end = UINT64_MAX;
    end_layers(replay, piece->layer, range, since);
    if (piece->void_)
        return;
    alive->owners[range.rank] = (uint32_t)index;
    jr_rankset_add(&alive->set, range.rank);
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
    sort_pieces(jit->pieces, jit->npieces);
    replay.ranks = jr_alloc(jit->npieces, sizeof *replay.ranks);
    for (unsigned i = 0; i < JR_LAYERS; i++)
        init_alive(&replay, i);
    for (size_t i = 0; i < jit->npieces; i++)
        replay_piece(&replay, i);
    for (unsigned i = 0; i < JR_LAYERS; i++)
        free_alive(&replay.layers[i]);
    free(replay.ranks);
}
