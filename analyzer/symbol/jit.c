/* SPDX-License-Identifier: MIT
 *
 * Gives the lines of perf maps their times.
 * Runs in: analyzer. */
#include "jit.h"

#include <stdlib.h>
#include <string.h>

#include "../base/mem.h"
#include "rankset.h"

void jr_jit_append(struct jr_jit *jit, const struct jr_perfmap *perfmap,
                   const struct jr_jit_file *const *sightings, size_t count,
                   uint64_t first_ns)
{
    uint32_t group = jit->nlines ? jit->lines[jit->nlines - 1].group + 1 : 0;
    size_t first = 0, at;

    /* A file that shrank was written anew: what was seen before that is not
     * in it any more. */
    for (size_t i = 1; i < count; i++) {
        if (sightings[i]->size < sightings[i - 1]->size)
            first = i;
    }
    at = first;
    for (size_t i = 0; i < perfmap->nlines; i++) {
        const struct jr_perfmap_line *line = &perfmap->lines[i];
        uint64_t from;

        while (at + 1 < count && sightings[at]->size < line->covered_by)
            at++;
        from = first_ns;
        if (count && (at || sightings[at]->size < line->covered_by))
            from = sightings[at]->time_ns;
        *JR_PUSH(jit->lines, jit->nlines, jit->lines_room) =
            (struct jr_jit_line){.start = line->start,
                                 .end = line->end,
                                 .from_ns = from,
                                 .until_ns = UINT64_MAX,
                                 .name = line->name,
                                 .length = line->length,
                                 .group = group,
                                 .bytecode = line->bytecode};
    }
}

/* Replaying the lines: which of them is alive at each start address. */
struct replay {
    struct jr_jit *jit;
    uint64_t *starts;     /* distinct start addresses, in order */
    size_t nstarts;
    uint32_t *owners;     /* by rank of start: line, when in `alive` */
    struct jr_rankset alive;
};

static int by_value(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return a < b ? -1 : a > b;
}

static size_t rank_of(const struct replay *replay, uint64_t start)
{
    size_t from = 0, to = replay->nstarts;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (replay->starts[middle] < start)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void init_replay(struct replay *replay, struct jr_jit *jit)
{
    size_t kept = 0;

    replay->jit = jit;
    replay->starts = jr_alloc(jit->nlines, sizeof *replay->starts);
    for (size_t i = 0; i < jit->nlines; i++)
        replay->starts[i] = jit->lines[i].start;
    qsort(replay->starts, jit->nlines, sizeof *replay->starts, by_value);
    for (size_t i = 0; i < jit->nlines; i++) {
        if (kept == 0 || replay->starts[kept - 1] != replay->starts[i])
            replay->starts[kept++] = replay->starts[i];
    }
    replay->nstarts = kept;
    replay->owners = jr_alloc(kept, sizeof *replay->owners);
    jr_rankset_init(&replay->alive, kept);
}

/* The line that is alive at `rank` ends. */
static void end_at(struct replay *replay, size_t rank, uint64_t time_ns)
{
    struct jr_jit_line *old = &replay->jit->lines[replay->owners[rank]];

    if (time_ns < old->until_ns)
        old->until_ns = time_ns;
    jr_rankset_remove(&replay->alive, rank);
}

static int same_line(const struct jr_jit_line *one,
                     const struct jr_jit_line *other)
{
    return one->start == other->start && one->end == other->end &&
           one->group == other->group && one->length == other->length &&
           !memcmp(one->name, other->name, one->length);
}

/* Ends every older line that line `index` touches, in part or whole. */
static void replay_line(struct replay *replay, size_t index)
{
    struct jr_jit_line *line = &replay->jit->lines[index];
    size_t rank = rank_of(replay, line->start), at;

    at = jr_rankset_next(&replay->alive, rank);
    if (at == rank &&
        same_line(&replay->jit->lines[replay->owners[rank]], line)) {
        line->duplicate = 1;
        return;
    }
    for (; at != JR_RANK_NONE && replay->starts[at] < line->end;
         at = jr_rankset_next(&replay->alive, at))
        end_at(replay, at, line->from_ns);
    /* Those alive do not overlap: only the nearest below can reach up. */
    at = jr_rankset_before(&replay->alive, rank);
    if (at != JR_RANK_NONE &&
        replay->jit->lines[replay->owners[at]].end > line->start)
        end_at(replay, at, line->from_ns);
    replay->owners[rank] = (uint32_t)index;
    jr_rankset_add(&replay->alive, rank);
}

void jr_jit_finish(struct jr_jit *jit)
{
    struct replay replay;

    if (jit->nlines == 0)
        return;
    init_replay(&replay, jit);
    for (size_t i = 0; i < jit->nlines; i++) {
        if (!jit->lines[i].bytecode)
            replay_line(&replay, i);
    }
    jr_rankset_free(&replay.alive);
    free(replay.starts);
    free(replay.owners);
    for (size_t i = 0; i < jit->nlines; i++) {
        const struct jr_jit_line *line = &jit->lines[i];

        if (!line->duplicate)
            *JR_PUSH(jit->ranges.items, jit->ranges.count, jit->ranges.room) =
                (struct jr_range){line->start, line->end, (uint32_t)i};
    }
    jr_ranges_build(&jit->ranges);
}

const struct jr_jit_line *jr_jit_pick(const struct jr_jit *jit,
                                      const struct jr_indices *found,
                                      uint64_t time_ns)
{
    const struct jr_jit_line *live = NULL, *later = NULL, *unseen = NULL;
    const struct jr_jit_line *bytecode = NULL;

    for (size_t i = 0; i < found->count; i++) {
        const struct jr_jit_line *line = &jit->lines[found->items[i]];

        if (line->bytecode) {
            if (line->from_ns <= time_ns && time_ns < line->until_ns)
                bytecode = line;
        } else if (line->from_ns > time_ns) {
            if (!later)
                later = line;
        } else if (time_ns < line->until_ns) {
            live = line;
        } else if (line->from_ns >= line->until_ns) {
            unseen = line;
        }
    }
    if (live)
        return live;
    if (later)
        return later;
    return unseen ? unseen : bytecode;
}

void jr_jit_free(struct jr_jit *jit)
{
    for (size_t i = 0; i < jit->nfiles; i++)
        jr_perfmap_free(&jit->files[i]);
    free(jit->files);
    free(jit->lines);
    jr_ranges_free(&jit->ranges);
    memset(jit, 0, sizeof *jit);
}
