/* SPDX-License-Identifier: MIT
 *
 * Takes the lines of perf maps and the records of jitdumps as pieces of code,
 * each with the time from which it is known.
 * Runs in: analyzer. */
#include "jit.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/ranges.h"

#define FILES_MAX 65535U /* the highest number that a piece can have */
#define PIECES_MAX 0x7fffffffU
#define OFFSET_MAX ((1ULL << 48) - 1)
#define BACK_MAX ((1U << 24) - 1)
/* A writer adds no bias if one in UNBIASED_SHARE of those of its line tables
 * that can tell begins before code + bias. Writers that add none have 17 to
 * 100% such tables (SpiderMonkey, JVMTI); those that add it have almost none,
 * and these are damaged. */
#define UNBIASED_SHARE 16

static uint64_t enter(struct jr_jit *jit, struct jr_jit_origin *origin)
{
    *JR_PUSH(jit->files, jit->nfiles, jit->files_room) = origin;
    return jit->nfiles - 1;
}

static int is_full(const struct jr_jit *jit)
{
    return jit->npieces >= PIECES_MAX || jit->nfiles > FILES_MAX;
}

static struct jr_jit_piece *push(struct jr_jit *jit)
{
    return JR_PUSH(jit->pieces, jit->npieces, jit->pieces_room);
}

/* Walks along the sightings of a file with its content. */
struct sighted {
    const struct jr_jit_sightings *all;
    size_t at;
};

static void begin_sighted(struct sighted *sighted,
                          const struct jr_jit_sightings *all,
                          struct jr_jit_origin *origin)
{
    sighted->all = all;
    sighted->at = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (all->items[i]->since_ns)
            *JR_PUSH(origin->windows, origin->nwindows, origin->windows_room) =
                (struct jr_jit_window){all->items[i]->since_ns + 1,
                                       all->items[i]->time_ns};
    }
    /* A file that shrank was written anew: what was seen before that is not
     * in it any more. */
    for (size_t i = 1; i < all->count; i++) {
        if (all->items[i]->size < all->items[i - 1]->size)
            sighted->at = i;
    }
}

/* Gives a piece, which the file holds once it has `size` bytes, its time. */
static void date(struct sighted *sighted, uint64_t size,
                 struct jr_jit_piece *piece)
{
    const struct jr_jit_sightings *all = sighted->all;

    if (all->count == 0 || all->inherited) {
        piece->always = 1;
        return;
    }
    while (sighted->at + 1 < all->count && all->items[sighted->at]->size < size)
        sighted->at++;
    piece->from_ns = all->items[sighted->at]->time_ns;
}

/* Executable memory in time, to look ranges up in. */
struct executable {
    struct jr_ranges ranges;
};

static void init_executable(struct executable *executable,
                            const struct jr_map *map)
{
    *executable = (struct executable){0};
    for (size_t i = 0; i < map->mappings.count; i++) {
        const struct jr_mapping *mapping = &map->mappings.items[i];

        *JR_PUSH(executable->ranges.items, executable->ranges.count,
                 executable->ranges.room) =
            (struct jr_range){mapping->start, mapping->end, mapping->from_ns,
                              mapping->until_ns, (uint32_t)i};
    }
    jr_ranges_build(&executable->ranges);
}

static void free_executable(struct executable *executable)
{
    jr_ranges_free(&executable->ranges);
}

/* Was there executable memory at the address then, or afterwards?  A mapping
 * may be seen later than the map's line for what is in it. */
static int was_executable(struct executable *executable, uint64_t address,
                          uint64_t time_ns)
{
    struct jr_range_answer answer;

    jr_ranges_find(&executable->ranges, address, time_ns, &answer);
    return answer.live != JR_NO_RANGE || answer.later != JR_NO_RANGE;
}

void jr_jit_append_map(struct jr_jit *jit, struct jr_jit_origin *origin,
                       const struct jr_jit_sightings *sightings)
{
    uint64_t file = enter(jit, origin);
    struct executable executable;
    struct sighted sighted;

    begin_sighted(&sighted, sightings, origin);
    init_executable(&executable, jit->map);
    for (size_t i = 0; i < origin->map.nlines && !is_full(jit); i++) {
        const struct jr_perfmap_line *line = &origin->map.lines[i];
        uint64_t size = line->end - line->start;
        struct jr_jit_piece piece = {.start = line->start,
                                     .until_ns = sightings->replaced_ns,
                                     .offset = i,
                                     .file = file & FILES_MAX};

        /* What came after the fork is the parent's alone. */
        if (sightings->inherited && line->covered_by > sightings->inherited)
            break;
        piece.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
        date(&sighted, line->covered_by, &piece);
        piece.layer =
            line->interpreted &&
                    !was_executable(&executable, line->start, piece.from_ns)
                ? JR_LAYER_BYTECODE
                : JR_LAYER_SIGHTED;
        *push(jit) = piece;
    }
    free_executable(&executable);
}

/* Line tables that wait for their LOAD: a writer with several threads may mix
 * their records. */
#define WAITING 16

struct records {
    struct jr_jit *jit;
    struct jr_jit_origin *origin;
    struct sighted sighted;
    struct jr_jitdump_record tables[WAITING]; /* a ring */
    size_t ntables;
    size_t paired, unbiased; /* line tables; those that show no bias */
    size_t first;            /* piece of this file */
    uint64_t file;
    int has_own; /* a record of the process itself was there */
};

/* The distance back to the line table of a LOAD; 0: none. */
static uint32_t take_table(struct records *records,
                           const struct jr_jitdump_record *load)
{
    for (size_t i = 0; i < WAITING && i < records->ntables; i++) {
        struct jr_jitdump_record *table =
            &records->tables[(records->ntables - 1 - i) % WAITING];

        if (!table->size || table->start != load->start)
            continue;
        table->size = 0;
        if (table->first_line) {
            records->paired++;
            records->unbiased +=
                table->first_line < load->start ||
                table->first_line - load->start < JR_JITDUMP_BIAS;
        }
        if (load->offset - table->offset <= BACK_MAX)
            return (uint32_t)(load->offset - table->offset);
        return 0;
    }
    return 0;
}

static void take_record(struct records *records,
                        const struct jr_jitdump_record *record)
{
    const struct jr_jitdump *dump = &records->origin->dump;
    struct jr_jit_piece piece = {.start = record->start,
                                 .from_ns = record->time_ns,
                                 .until_ns = UINT64_MAX,
                                 .offset = record->offset & OFFSET_MAX,
                                 .file = records->file & FILES_MAX,
                                 .layer = JR_LAYER_EXACT};

    if (record->offset > OFFSET_MAX || record->type > JR_JITDUMP_CLOSE)
        return;
    if (record->type == JR_JITDUMP_DEBUG) {
        records->tables[records->ntables++ % WAITING] = *record;
        return;
    }
    piece.size = record->code_size < UINT32_MAX ? (uint32_t)record->code_size
                                                : UINT32_MAX;
    if (record->type == JR_JITDUMP_CLOSE) {
        piece.event = JR_JIT_CLOSED;
    } else {
        piece.foreign = record->pid != records->jit->map->pid;
        records->has_own |= !piece.foreign;
    }
    if (record->type == JR_JITDUMP_LOAD) {
        piece.back = take_table(records, record) & BACK_MAX;
    } else if (record->type == JR_JITDUMP_MOVE) {
        piece.event = JR_JIT_MOVED;
        piece.until_ns = record->old_start;
    }
    if (record->time_ns > records->origin->last_ns)
        records->origin->last_ns = record->time_ns;
    if (dump->has_arch_time) {
        piece.layer = JR_LAYER_SIGHTED;
        date(&records->sighted, record->offset + record->size, &piece);
    }
    *push(records->jit) = piece;
}

/* A forked child may go on writing into its parent's dump.  Where the records
 * tell who wrote them, those of others are left out: all but what the parent
 * had written before the child began. */
static void leave_out_foreign(struct records *records)
{
    struct jr_jit *jit = records->jit;
    int is_inherited = records->sighted.all->inherited != 0;
    int is_child = records->origin->dump.pid != jit->map->pid || is_inherited;

    if (!records->has_own && !is_inherited)
        return;
    for (size_t i = records->first; i < jit->npieces; i++) {
        struct jr_jit_piece *piece = &jit->pieces[i];

        if (piece->foreign &&
            !(is_child && piece->from_ns <= jit->map->begin_ns))
            piece->void_ = 1;
    }
}

void jr_jit_append_dump(struct jr_jit *jit, struct jr_jit_origin *origin,
                        const struct jr_jit_sightings *sightings)
{
    struct records *records = jr_alloc(1, sizeof *records);
    struct jr_jitdump_record record;

    records->jit = jit;
    records->origin = origin;
    records->first = jit->npieces;
    records->file = enter(jit, origin);
    begin_sighted(&records->sighted, sightings, origin);
    while (!is_full(jit) && jr_jitdump_next(&origin->dump, &record))
        take_record(records, &record);
    origin->cut = !jit->map->exited;
    leave_out_foreign(records);
    if (records->paired && records->unbiased * UNBIASED_SHARE < records->paired)
        origin->bias = JR_JITDUMP_BIAS;
    /* The window is of no more use. */
    jr_jitdump_free(&origin->dump);
    free(records);
}

void jr_jit_finish(struct jr_jit *jit)
{
    size_t kept = 0;

    jr_jit_replay(jit);
    for (size_t i = 0; i < jit->npieces; i++) {
        if (!jit->pieces[i].void_ && jit->pieces[i].size)
            jit->pieces[kept++] = jit->pieces[i];
    }
    jit->npieces = kept;
    jr_jit_index(jit);
}

void jr_jit_free(struct jr_jit *jit)
{
    for (size_t i = 0; i < jit->nfiles; i++) {
        jr_perfmap_free(&jit->files[i]->map);
        jr_jitdump_free(&jit->files[i]->dump);
        jr_source_free(&jit->files[i]->source);
        free(jit->files[i]->windows);
        free(jit->files[i]);
    }
    jr_jit_texts_free(jit->texts);
    free(jit->files);
    free(jit->pieces);
    free(jit->starts);
    free(jit->ends);
    memset(jit, 0, sizeof *jit);
}
