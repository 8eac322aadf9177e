/* SPDX-License-Identifier: MIT
 *
 * Brings a profile of another tool into a model: its samples become those of
 * runs, one a process, its places those of a space.
 * Runs in: analyzer. */
#include "load_foreign.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/collect.h"
#include "read/foreign/foreign.h"
#include "select.h"
#include "write/figures.h"

/* The time at which the profile of another tool is said to begin. */
#define BEGIN_NS 1000000000ULL
#define TIME_MOST_NS (UINT64_MAX >> 2)

/* A slice as text of its own, 255 bytes at most. */
static char *text_of(struct jr_slice slice)
{
    return jr_strndup(slice.text ? slice.text : "",
                      slice.length < 255 ? slice.length : 255);
}

/* The base name of a module, as logs have it. */
static struct jr_slice base_of(struct jr_slice path)
{
    for (size_t i = path.length; i-- > 0;)
        if (path.text[i] == '/' && i + 1 < path.length)
            return (struct jr_slice){path.text + i + 1, path.length - i - 1};
    return path;
}

static const char *add_text(struct jr_load *load, struct jr_slice slice)
{
    return slice.length ? jr_space_text(load->symbols, slice.text, slice.length)
                        : NULL;
}

/* Code without a name is one function a module, as in a log. */
static const char *nameless(struct jr_load *load, struct jr_slice module)
{
    char *text =
        jr_printf("[%.*s]", (int)(module.length < 255 ? module.length : 255),
                  module.length ? module.text : "");
    const char *name = module.length
                           ? jr_space_text(load->symbols, text, strlen(text))
                           : jr_space_text(load->symbols, "[unknown]", 9);

    free(text);
    return name;
}

static struct jr_frame frame_of(struct jr_load *load,
                                const struct jr_foreign_frame *from,
                                int is_inlined)
{
    const struct jr_slice module = base_of(from->module);
    struct jr_frame frame = {.file = add_text(load, from->file),
                             .line = from->line,
                             .inlined = (uint8_t)is_inlined};

    frame.module = add_text(load, module);
    if (!frame.module)
        frame.module = jr_space_text(load->symbols, "", 0);
    frame.name =
        from->is_unnamed ? nameless(load, module) : add_text(load, from->name);
    if (from->raw.length > 0)
        frame.raw = add_text(load, from->raw);
    if (frame.raw == frame.name)
        frame.raw = NULL;
    frame.tier = from->tier;
    frame.kind = from->is_jit
                     ? (from->is_unnamed ? JR_FRAME_JIT_UNNAMED : JR_FRAME_JIT)
                 : !from->is_unnamed ? JR_FRAME_NATIVE
                 : module.length     ? JR_FRAME_UNNAMED
                                     : JR_FRAME_UNKNOWN;
    return frame;
}

/* The map of the files in which a profile has addresses instead of names. */
static void make_mappings(const struct jr_foreign *foreign, struct jr_map *map)
{
    for (size_t i = 0; i < foreign->nmappings; i++) {
        const struct jr_foreign_mapping *from = &foreign->mappings[i];

        *JR_PUSH(map->mappings.items, map->mappings.count, map->mappings.room) =
            (struct jr_mapping){
                .start = from->start,
                .end = from->end,
                .offset = from->offset,
                .until_ns = UINT64_MAX,
                .path = jr_strndup(from->path.text, from->path.length)};
    }
}

/* Copies the functions at a place's address from the file that is mapped there;
 * 0: no file is.  Places stand for the byte before a return address. */
static size_t named_by_file(struct jr_space *files, uint64_t address,
                            struct jr_frame **frames)
{
    struct jr_hit hit;

    jr_space_find(files, address, 0, 0, &hit);
    if (!hit.mapping)
        return 0;
    *frames = jr_alloc(hit.nframes, sizeof **frames);
    memcpy(*frames, hit.frames, hit.nframes * sizeof **frames);
    return hit.nframes;
}

static struct jr_space *make_space(struct jr_load *load,
                                   const struct jr_foreign *foreign,
                                   const struct jr_map *map)
{
    struct jr_given *given = jr_alloc(foreign->nplaces + 1, sizeof *given);
    struct jr_map mapped = {0};
    struct jr_space *files = NULL;

    if (foreign->nmappings > 0) {
        make_mappings(foreign, &mapped);
        files = jr_space_new(load->symbols, &mapped, "");
    }
    for (size_t i = 0; i < foreign->nplaces; i++) {
        const struct jr_foreign_place *place = &foreign->places[i];
        struct jr_frame *frames = NULL;
        size_t count =
            files ? named_by_file(files, place->address, &frames) : 0;

        if (count == 0) {
            count = place->count;
            frames = jr_alloc(count, sizeof *frames);
            for (uint32_t j = 0; j < count; j++)
                frames[j] = frame_of(load, &foreign->frames[place->first + j],
                                     j + 1 < count);
        }
        given[i] = (struct jr_given){{frames, count}, place->address};
    }
    jr_space_free(files);
    for (size_t i = 0; i < mapped.mappings.count; i++)
        free(mapped.mappings.items[i].path);
    free(mapped.mappings.items);
    return jr_space_given(load->symbols, map, given, foreign->nplaces);
}

static int by_time(const void *left, const void *right)
{
    const struct jr_sample *a = left, *b = right;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* The weight of a sample on a side of a comparison; some files have two. */
static uint64_t weight_of(const struct jr_foreign *foreign,
                          const struct jr_foreign_sample *sample, int side)
{
    return foreign->has_two && side == JR_BEFORE ? sample->before_ns
                                                 : sample->weight_ns;
}

/* The earliest time of a sample, where samples have times. */
static uint64_t first_time(const struct jr_foreign *foreign)
{
    uint64_t first = foreign->has_times ? UINT64_MAX : 0;

    for (size_t i = 0; foreign->has_times && i < foreign->nsamples; i++)
        if (foreign->samples[i].time_ns < first)
            first = foreign->samples[i].time_ns;
    return first;
}

/* Returns the sum, but no later a time than can be told. */
static uint64_t later(uint64_t time_ns, uint64_t by_ns)
{
    return by_ns < TIME_MOST_NS - time_ns ? time_ns + by_ns : TIME_MOST_NS;
}

/* Adds the samples of a process.  Sums have no time: each thread's come one
 * after the other, from the beginning on. */
static void add_samples(const struct jr_foreign *foreign, uint32_t process,
                        int side, struct jr_run *run)
{
    /* Callers are stored as return addresses, from which the model subtracts
     * one. */
    uint64_t *frames = jr_alloc(JR_FOREIGN_DEPTH, sizeof *frames);
    uint64_t *ends = jr_alloc(foreign->nthreads + 1, sizeof *ends);
    const uint64_t first = first_time(foreign);
    struct jr_table threads = {0};
    size_t room = 0;

    for (size_t i = 0; i < foreign->nsamples; i++) {
        const struct jr_foreign_sample *from = &foreign->samples[i];
        struct jr_stack_parts parts = {.frames = frames, .count = from->count};
        const uint64_t weight = weight_of(foreign, from, side);
        uint64_t *end;
        uint32_t stack;

        if (from->process != process || weight == 0)
            continue;
        for (uint32_t j = 0; j < from->count; j++)
            frames[j] = foreign->stacks[from->first + j] + 1ULL + (j > 0);
        stack = jr_stacks_add(&run->stacks, &parts);
        end =
            &ends[jr_table_put(&threads, from->tid, 0, (uint32_t)threads.used)];
        if (foreign->has_times)
            *end = later(0, from->time_ns - first);
        *JR_PUSH(run->given, run->nsamples, room) =
            (struct jr_sample){.time_ns = later(BEGIN_NS, *end),
                               .weight_ns = weight,
                               .tid = from->tid,
                               .stack = stack == JR_STACK_NONE ? 0 : stack,
                               .event = from->event};
        *end = later(*end, weight);
    }
    jr_stacks_seal(&run->stacks);
    if (run->nsamples > 0)
        qsort(run->given, run->nsamples, sizeof *run->given, by_time);
    jr_table_free(&threads);
    free(frames);
    free(ends);
}

static void make_run(const struct jr_foreign *foreign, uint32_t process,
                     int side, const char *exe, struct jr_run *run)
{
    struct jp_log_header *header = &run->header;

    header->period_ns = foreign->period_ns;
    header->pid = foreign->processes[process].pid;
    header->mono_ns = BEGIN_NS;
    header->real_ns = foreign->real_ns;
    snprintf(header->exe, sizeof header->exe, "%s", exe);
    jr_stacks_init(&run->stacks);
    run->is_unrepeatable = 1;
    add_samples(foreign, process, side, run);
    if (run->nsamples > 0) {
        run->first_ns = run->given[0].time_ns;
        run->last_ns = run->given[run->nsamples - 1].time_ns;
    }
}

static struct jr_map *make_map(const struct jr_foreign *foreign,
                               uint32_t process, const char *exe)
{
    struct jr_map *map = jr_alloc(1, sizeof *map);
    char *name = text_of(foreign->processes[process].name);

    map->pid = foreign->processes[process].pid;
    map->begin_ns = BEGIN_NS;
    map->real_ns = foreign->real_ns;
    map->exited = 1;
    map->exe = jr_strdup(exe);
    map->comm = jr_strdup(*name ? name : jr_base_name(exe));
    map->cmdline = jr_strdup("");
    map->end_ns = jr_add(BEGIN_NS, foreign->duration_ns);
    for (size_t i = 0; i < foreign->nthreads; i++)
        if (foreign->threads[i].process == process &&
            foreign->threads[i].name.length > 0)
            *JR_PUSH(map->threads, map->nthreads, map->threads_room) =
                (struct jr_thread_name){BEGIN_NS, foreign->threads[i].tid,
                                        text_of(foreign->threads[i].name)};
    free(name);
    return map;
}

static void note_bad(struct jr_load *load, const char *path,
                     const struct jr_foreign *foreign)
{
    char *where = foreign->bad_line ? jr_printf(" (the first one in line %zu)",
                                                foreign->bad_line)
                                    : jr_strdup("");

    if (foreign->bad > 0)
        jr_warn(load->diag, path, JR_NO_OFFSET,
                "%zu samples are negative, damaged, or of a place that is not "
                "there%s, and are left out",
                foreign->bad, where);
    free(where);
}

/* What the profile is, and what it lacks beside a log. */
static void note_foreign(struct jr_load *load, const char *path,
                         const struct jr_foreign *foreign)
{
    char *type = text_of(foreign->type), *unit = text_of(foreign->unit);

    jr_notes_add(
        &load->gathered,
        jr_printf(
            "%s is %s%s%s%s%s: %s "
            "standard errors%s%s%s",
            path, foreign->kind, *type ? ", its weights are " : "", type,
            *unit ? " in " : "", unit,
            foreign->has_times ? "samples with times, without"
                               : "sums of stacks without times and",
            foreign->has_threads ? "" : ", threads",
            foreign->has_lines || foreign->nmappings > 0 ? ""
                                                         : ", source lines",
            foreign->has_times ? ""
                               : "; its samples stand one after the other"));
    if (foreign->nmappings > 0)
        jr_notes_add(&load->gathered,
                     jr_printf("%s has addresses instead of names; these come "
                               "of the files as they are now",
                               path));
    for (size_t i = 0; i < foreign->nremarks; i++)
        jr_notes_add(&load->gathered,
                     jr_printf("%s: %s", path, foreign->remarks[i]));
    if (!foreign->is_time)
        jr_notes_add(&load->gathered,
                     jr_printf("%s counts: what reads as a time below is a "
                               "number, 1 ns for each",
                               path));
    note_bad(load, path, foreign);
    if (foreign->cut > 0)
        jr_notes_add(&load->gathered,
                     jr_printf("%s: %zu stacks are deeper than %d frames; the "
                               "outer ones are left out",
                               path, foreign->cut, JR_FOREIGN_DEPTH));
    for (size_t i = 0; i < foreign->ncomments; i++) {
        char *comment = text_of(foreign->comments[i]);

        jr_notes_add(&load->gathered, jr_printf("%s says: %s", path, comment));
        free(comment);
    }
    free(type);
    free(unit);
}

static void add_process(struct jr_load *load, struct jr_log *log,
                        const struct jr_foreign *foreign, uint32_t process)
{
    char *program = text_of(foreign->program);
    const char *exe = *program ? program : jr_base_name(log->path);
    struct jr_run *run = &log->runs[process];
    struct jr_map *map = make_map(foreign, process, exe);
    struct jr_space *space;

    make_run(foreign, process, load->model.side, exe, run);
    space = make_space(load, foreign, map);
    *JR_PUSH(load->held, load->nheld, load->held_room) =
        (struct jr_held){.map = map, .space = space};
    if (jr_select_process(&load->model.filter, load->selected, run, map))
        jr_model_add(&load->model, log, run, &(struct jr_code){map, space},
                     (struct jr_neighbours){0, 0});
    free(program);
}

int jr_load_foreign(struct jr_load *load, const char *path)
{
    struct jr_log *log = jr_alloc(1, sizeof *log);
    struct jr_foreign foreign;

    *JR_PUSH(load->held, load->nheld, load->held_room) =
        (struct jr_held){.log = log};
    log->path = jr_strdup(path);
    log->bytes.fd = -1;
    if (jr_foreign_read(path, &foreign, load->diag) != 0 ||
        foreign.nsamples == 0) {
        if (foreign.kind && foreign.nsamples == 0)
            jr_say("%s: no sample in it has a weight", path);
        jr_foreign_free(&foreign);
        return -1;
    }
    note_foreign(load, path, &foreign);
    load->model.foreign = 1;
    log->runs = jr_alloc(foreign.nprocesses, sizeof *log->runs);
    log->nruns = log->runs_room = foreign.nprocesses;
    for (uint32_t i = 0; i < foreign.nprocesses; i++)
        add_process(load, log, &foreign, i);
    jr_log_close(log);
    jr_foreign_free(&foreign);
    return 0;
}
