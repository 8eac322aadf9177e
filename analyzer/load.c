/* SPDX-License-Identifier: MIT
 *
 * Loads logs with their maps into a model, and notes what the reader of the
 * report should know about them.
 * Runs in: analyzer. */
#include "load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mapname.h"
#include "match.h"
#include "missing_names.h"
#include "model/build.h"
#include "model/collect.h"
#include "model/cover/cover_image.h"
#include "model/cover/cover_kernel.h"
#include "model/cover/cover_sum.h"
#include "model/span.h"
#include "read/markers.h"
#include "select.h"
#include "write/diff/diff.h"

#define OPEN_MOST 128 /* logs that stay open */

void jr_load_init(struct jr_load *load, const char *app,
                  const struct jr_filter *filter,
                  const struct jr_symbols_options *symbols,
                  struct jr_diag *diag)
{
    *load = (struct jr_load){.diag = diag, .app = app};
    load->symbols = jr_symbols_new(diag, symbols);
    jr_model_init(&load->model, filter);
}

/* The tree's file of a run, read once; NULL when there is none. */
static struct jr_tree *tree_of(struct jr_load *load, const struct jr_log *log,
                               const struct jr_run *run)
{
    char *path = jr_file_beside(log->path, run->header.tree_name);
    struct jr_tree *tree = NULL;

    for (size_t i = 0; path && i < load->ntrees && !tree; i++)
        if (strcmp(load->trees[i]->path, path) == 0)
            tree = load->trees[i];
    if (path && !tree) {
        tree = jr_alloc(1, sizeof(*tree));
        jr_tree_file_read(path, tree, load->diag);
        *JR_PUSH(load->trees, load->ntrees, load->trees_room) = tree;
    }
    free(path);
    return tree;
}

/* Counts a run in the coverage. */
static void cover(struct jr_load *load, const struct jr_log *log,
                  const struct jr_run *run, const struct jr_map *map)
{
    struct jr_cover_image image;
    const struct jr_tree_root root = jr_tree_root_of(&run->header);

    jr_cover_image(run, map, &image);
    image.tree =
        jr_cover_tree(&load->cover, tree_of(load, log, run), &root, map->boot);
    image.command =
        map->cmdline && map->cmdline[0] ? map->cmdline : run->header.exe;
    jr_cover_kernel(&load->cover, map);
    jr_cover_add(&load->cover, &image);
}

static void free_cover(struct jr_load *load)
{
    jr_cover_free(&load->cover);
    for (size_t i = 0; i < load->ntrees; i++) {
        jr_tree_file_free(load->trees[i]);
        free(load->trees[i]);
    }
    free(load->trees);
}

static void free_files(const struct jr_held *held)
{
    if (held->map) {
        jr_map_free(held->map);
        free(held->map);
    }
    if (held->log) {
        jr_log_free(held->log);
        free(held->log);
    }
}

void jr_load_free(struct jr_load *load)
{
    jr_model_free(&load->model);
    free_cover(load);
    for (size_t i = 0; i < load->nheld; i++)
        jr_space_free(load->held[i].space);
    jr_symbols_free(load->symbols);
    for (size_t i = 0; i < load->nheld; i++)
        free_files(&load->held[i]);
    for (size_t i = 0; i < load->nnotes; i++)
        free(load->notes[i]);
    free(load->held);
    free(load->notes);
    free(load->starts.items);
    jr_notes_free(&load->gathered);
    *load = (struct jr_load){0};
}

/* A run's map has its file, and what stands in the log; one that branched off
 * from others has theirs instead of a file. */
#define PARTS_MAX 32

/* Whether a run has a map of its own: one in another process's log has not. */
static int has_file(const struct jr_run *run)
{
    return run->offset == 0 || run->header.map_name[0] != '\0';
}

/* Adds a run's own lines; what is of a base holds until then. */
static size_t add_parts(const struct jr_log *log, const struct jr_run *run,
                        char *path, struct jr_map_part *parts)
{
    size_t count = 0;

    if (run->base == (size_t)(run - log->runs) && has_file(run))
        parts[count++] =
            (struct jr_map_part){.path = path,
                                 .pid = run->header.pid,
                                 .start_ticks = run->header.start_ticks};
    if (run->ntext)
        parts[count++] =
            (struct jr_map_part){.path = log->path,
                                 .data = (const uint8_t *)run->text,
                                 .size = run->ntext,
                                 .is_text = 1};
    return count;
}

/* All parts of a run's map, those of its bases behind its own; *path is for
 * the caller to free, NULL: the file is not there. */
static size_t find_parts(const struct jr_log *log, const struct jr_run *run,
                         struct jr_map_part *parts, char **path)
{
    const struct jr_run *root = run, *at = run;
    uint64_t until = UINT64_MAX;
    size_t count = 0;

    for (size_t i = 0; i < PARTS_MAX && root != &log->runs[root->base]; i++)
        root = &log->runs[root->base];
    *path = has_file(root) ? jr_map_path(log->path, root->header.map_name)
                           : jr_strdup(log->path);
    while (*path && count + 2 <= PARTS_MAX) {
        size_t more = add_parts(log, at, *path, parts + count);

        for (size_t i = count; i < count + more; i++) {
            parts[i].until_ns = until;
            parts[i].of_base = at != run;
        }
        count += more;
        if (at == &log->runs[at->base])
            break;
        if (at->header.forked_ns < until)
            until = at->header.forked_ns;
        at = &log->runs[at->base];
    }
    return count;
}

/* A number for a boot's random id.  A process without /proc does not know it,
 * and counts as one of the machine that is known last; 0: none is. */
static uint64_t boot_of(struct jr_load *load,
                        const struct jp_log_header *header)
{
    uint64_t halves[2];

    memcpy(halves, header->boot_id, sizeof(halves));
    if (halves[0] != 0 || halves[1] != 0)
        load->boot = halves[0] ^ halves[1];
    return load->boot;
}

static struct jr_map *load_map(struct jr_load *load, const struct jr_log *log,
                               const struct jr_run *run)
{
    const struct jp_log_header *header = &run->header;
    struct jr_map_part parts[PARTS_MAX];
    struct jr_map *map = jr_alloc(1, sizeof(*map));
    char *path;
    size_t count = find_parts(log, run, parts, &path);
    int failed;

    map->path = path ? jr_strdup(path) : NULL;
    map->pid = header->pid;
    map->start_ticks = header->start_ticks;
    map->boot = boot_of(load, header);
    map->packed = load->packed;
    if (path == NULL) {
        jr_warn(load->diag, log->path, run->offset,
                "its map \"%s\" is not beside the log; the report has "
                "addresses without names",
                header->map_name);
        failed = 1;
    } else {
        failed = jr_map_join(parts, count, map, load->diag);
    }
    if (map->begin_ns == 0)
        map->begin_ns = header->mono_ns;
    if (failed)
        jr_notes_add_of(&load->gathered, header->pid, 0,
                        "the map of the log could not be read, so its "
                        "addresses have no names");
    free(path);
    return map;
}

static void check_program(struct jr_load *load, const struct jr_run *run)
{
    const struct jp_log_header *header = &run->header;

    if (header->exe[0] == '\0' || jr_same_program(load->app, header->exe))
        return;
    load->other = header;
    load->nothers++;
}

/* `named` says of which names there was a frame, on dropped stacks too. */
static void say_absent(const uint8_t *named, const char *option,
                       const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!named[i])
            jr_say("%s %s: no stack holds a function of this name", option,
                   names[i]);
}

/* Says which filters found nothing that they could be about. */
static void say_filters(const struct jr_model *model)
{
    const struct jr_filter *filter = &model->filter;

    if (model->total.samples + model->total.filtered > 0) {
        say_absent(model->named + filter->ninclude, "-e", filter->exclude,
                   filter->nexclude);
        say_absent(model->named, "-i", filter->include, filter->ninclude);
    } else if (filter->tid != 0 && model->total.sections > 0) {
        jr_say("--only-thread %" PRIu32 ": no sample is of this thread",
               filter->tid);
    } else if (filter->nspans > 0) {
        jr_say("--span %s: no sample lies in a span of this name",
               filter->spans[0]);
    } else if (filter->from_ns > 0 || filter->has_to) {
        jr_say("--from, --to: no sample lies in this time");
    }
}

/* Of a whole run it is known what the user gave. */
static void note_others(struct jr_load *load)
{
    const char *rest = "names come from the files that the maps list";
    char *text;

    if (load->nothers == 0 || load->cover.command || load->model.compares)
        return;
    if (load->nothers == 1)
        text = jr_printf("pid %" PRIu32 " ran %s, not %s; %s", load->other->pid,
                         load->other->exe, load->app, rest);
    else
        text = jr_printf("%zu of %zu processes ran another program than %s "
                         "(pid %" PRIu32 ": %s); %s",
                         load->nothers, load->model.nprocesses, load->app,
                         load->other->pid, load->other->exe, rest);
    /* A tree of which one process ran app is what the user asked for. */
    if (load->nothers == load->model.nprocesses)
        jr_say("%s", text);
    jr_notes_add(&load->gathered, text);
}

/* Whether a perf map or jitdump was there, in which names could stand. */
static int has_jit_files(const struct jr_load *load)
{
    for (size_t i = 0; i < load->nheld; i++) {
        if (load->held[i].map && load->held[i].map->njit > 0)
            return 1;
    }
    return 0;
}

/* Notes JIT code without names, and the runtime's reason. */
static void note_jit(struct jr_load *load)
{
    const struct jr_stats *total = &load->model.total;
    const char *why = load->cover.jit, *asked = load->cover.asked;
    int is_library;
    const char *told =
        jr_note_missing_names(&load->model, &load->gathered, &is_library);
    char *text;

    if (total->jit_named > 0 || total->jit_frames < total->samples / 100 + 1) {
        if (why && total->jit_named == 0)
            jr_notes_add(&load->gathered, jr_printf("%s; see doc/jit.md", why));
        return;
    }
    if (has_jit_files(load))
        return;
    text = jr_printf("JIT code has no names: %s; see doc/jit.md",
                     is_library ? told
                     : why      ? why
                     : asked    ? asked
                     : told     ? told
                                : "its runtime was not asked to write them, or "
                                  "writes none");
    jr_say("%s", text);
    if (told && (!why || is_library))
        free(text);
    else
        jr_notes_add(&load->gathered, text);
    if (why && is_library)
        jr_notes_add(&load->gathered, jr_printf("%s; see doc/jit.md", why));
}

void jr_load_finish(struct jr_load *load)
{
    if (load->model.compares)
        jr_diff_join(&load->model);
    jr_model_finish(&load->model);
    jr_cover_finish(&load->cover, load->merged);
    say_filters(&load->model);
    note_others(load);
    note_jit(load);
    load->notes = jr_notes_texts(&load->gathered, &load->nnotes);
}

/* How much time the samples of a ring cover, and what came before them.  A
 * process whose log went out of its reach leaves a ring too. */
static void note_ring(struct jr_load *load, const struct jr_run *run)
{
    const struct jp_log_header *header = &run->header;
    const int cut = header->counters[JP_COUNT_RING_REUSED] != 0;
    uint64_t first, covered;

    if ((!cut && header->ring_bytes == 0) || run->nsamples == 0)
        return;
    /* A thread that goes on waiting has the time at which it was last looked
     * at, which may lie before all others'. */
    first = cut ? run->oldest_ns : run->first_ns;
    covered = run->last_ns;
    covered -= covered < first ? covered : first;
    if (cut && first > header->mono_ns)
        jr_notes_add_time(
            &load->gathered, header->pid, covered,
            "the ring buffers were overwritten, and earlier time is only "
            "partly in the report; they cover",
            jr_printf("the ring buffer was overwritten; the report covers "
                      "%.3f s, and only a part of the %.3f s before",
                      (double)covered / 1e9,
                      (double)(first - header->mono_ns) / 1e9));
    else
        jr_notes_add_time(
            &load->gathered, header->pid, covered, "their rings cover",
            jr_printf("the ring covers %.3f s", (double)covered / 1e9));
}

static void note_period(struct jr_load *load, const struct jr_run *run)
{
    char *text = jr_printf("the period was %" PRIu64 " ns; its weights are "
                           "shown in periods of the first process",
                           run->header.period_ns);

    jr_notes_add_of(&load->gathered, run->header.pid, 0, text);
    free(text);
}

/* What the header's counters and the reader found, short of lost samples. */
static void note_run(struct jr_load *load, const struct jr_log *log,
                     const struct jr_run *run)
{
    static const struct {
        enum jp_counter counter;
        const char *what;
    } told[] = {
        {JP_COUNT_NO_TIMER, "threads were sampled only ten times a CPU second "
                            "of the process, or not at all, for the kernel "
                            "refused their timers (pending signals)"},
        {JP_COUNT_NO_TIMER_FILTER, "threads that began behind a seccomp filter "
                                   "of the program's, which forbids them a "
                                   "timer, were sampled by the one of their "
                                   "process, while they computed"},
        {JP_COUNT_UNSEEN, "threads got no signal while they ran; their CPU "
                          "time stands at the function that they began with"},
        {JP_COUNT_NO_PERF_FILTER, "threads were sampled with the kernel's "
                                  "tick, for a seccomp filter of the program's "
                                  "forbids the perf clock"},
        {JP_COUNT_NO_PERF, "threads were sampled with the kernel's tick, for "
                           "it refused them the perf clock (locked memory, "
                           "descriptors)"},
        {JP_COUNT_NO_WAKER, "waiting threads were woken at the full rate, for "
                            "the kernel refused them a second timer (pending "
                            "signals)"},
        {JP_COUNT_LOST_MARKS, "marks of the program found no place in the "
                              "log; spans may lack begin or end"},
        {JP_COUNT_MAP_LOST, "events could not be written to the map; names "
                            "may be missing"}};
    const uint64_t *counters = run->header.counters;
    uint32_t pid = run->header.pid;

    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (counters[told[i].counter])
            jr_notes_add_of(&load->gathered, pid, counters[told[i].counter],
                            told[i].what);
    note_ring(load, run);
    if (run->bad_chunks)
        jr_notes_add(&load->gathered,
                     jr_printf("pid %" PRIu32 ": %zu of %zu chunks of %s are "
                               "damaged and were left out or cut; records "
                               "left out: %" PRIu64,
                               pid, run->bad_chunks, run->seen_chunks,
                               log->path, run->bad_records));
    if (run->header.period_ns == 0)
        jr_warn(load->diag, log->path, run->offset,
                "the period is 0; weights are shown in periods of %" PRIu64
                " ns",
                load->model.period_ns);
    else if (run->header.period_ns != load->model.period_ns)
        note_period(load, run);
}

static void note_map(struct jr_load *load, const struct jr_run *run,
                     const struct jr_map *map)
{
    for (size_t i = 0; i < map->nnotes; i++)
        jr_notes_add_of(&load->gathered, run->header.pid, 0, map->notes[i]);
}

/* Says it when none of a log's `sections` is selected; its processes are the
 * last ones of the model, from `first` on. */
static void say_selected(const struct jr_load *load, const struct jr_log *log,
                         size_t first, uint64_t sections)
{
    for (size_t i = first; i < load->model.nprocesses; i++)
        if (load->model.processes[i].stats.sections > 0)
            return;
    if (load->model.nprocesses == first)
        return;
    jr_say("%s: the log has %" PRIu64 " section%s, none of them asked for",
           log->path, sections, sections > 1 ? "s" : "");
}

static void say_run(const struct jr_log *log, const struct jr_run *run,
                    const struct jr_map *map)
{
    jr_say("%s: pid %" PRIu32 " (%s): %" PRIu64 " samples of %zu stacks in "
           "%zu chunks",
           log->path, run->header.pid, run->header.exe, run->nsamples,
           run->stacks.count - 1, run->seen_chunks);
    jr_say("%s: %zu mappings, %zu sections, %zu JIT files",
           map->path ? map->path : "(no map)", map->mappings.count,
           map->nsections, map->njit);
}

/* Adds a run to the model; its map and space are in `held`.  Coverage is of
 * all, whatever is selected. */
static void add_run(struct jr_load *load, struct jr_log *log,
                    const struct jr_run *run, const struct jr_held *held,
                    struct jr_neighbours neighbours)
{
    if (load->verbose)
        say_run(log, run, held->map);
    if (!jr_select_process(&load->model.filter, load->selected, run,
                           held->map)) {
        cover(load, log, run, held->map);
        return;
    }
    check_program(load, run);
    jr_model_add(&load->model, log, run,
                 &(struct jr_code){held->map, held->space}, neighbours);
    cover(load, log, run, held->map);
    if (load->model.processes[load->model.nprocesses - 1].stats.gone)
        jr_notes_add_of(
            &load->gathered, run->header.pid,
            load->model.processes[load->model.nprocesses - 1].stats.gone,
            "samples were overwritten while the log was read, as their process "
            "still runs; they are not in the report");
    note_run(load, log, run);
    note_map(load, run, held->map);
}

/* Firefox tells of its measures in a file, which is beside the log. */
static void read_markers(struct jr_load *load, const struct jr_log *log,
                         struct jr_run *run)
{
    char *name = jr_printf(JR_MARKERS_NAME "%" PRIu32 ".txt", run->header.pid);
    char *path = jr_file_beside(log->path, name);

    if (path)
        jr_markers_read(path, run, load->diag);
    free(path);
    free(name);
}

/* Reads the maps of all runs of a log; returns how many sections they have. */
static uint64_t hold_maps(struct jr_load *load, const struct jr_log *log)
{
    char *folder = jr_folder_of(log->path);
    uint64_t sections = 0;

    for (size_t i = 0; i < log->nruns; i++) {
        struct jr_map *map = load_map(load, log, &log->runs[i]);
        struct jr_space *space = jr_space_new(load->symbols, map, folder);

        *JR_PUSH(load->held, load->nheld, load->held_room) =
            (struct jr_held){.map = map, .space = space};
        sections += jr_span_sections(map);
    }
    free(folder);
    return sections;
}

/* Logs that will be gone through again stay open, of many the first ones. */
static void leave_log(struct jr_load *load, struct jr_log *log)
{
    if (!jr_filter_needs(&load->model.filter, JR_NEEDS_REPLAY)) {
        jr_log_close(log);
        return;
    }
    jr_log_rest(log);
    if (load->nopen < OPEN_MOST)
        load->nopen++;
    else
        jr_log_let_go(log);
}

int jr_load_log(struct jr_load *load, const char *path)
{
    struct jr_log *log = jr_alloc(1, sizeof(*log));
    struct jr_neighbours neighbours = {0};
    size_t held, first = load->model.nprocesses;
    uint64_t sections;

    *JR_PUSH(load->held, load->nheld, load->held_room) =
        (struct jr_held){.log = log};
    if (jr_log_read(path, log, load->diag) != 0 || log->nruns == 0)
        return -1;
    held = load->nheld;
    sections = hold_maps(load, log);
    for (size_t i = 0; i < log->nruns; i++)
        jr_starts_add(&load->starts, &log->runs[i].header,
                      load->held[held + i].map);
    for (size_t i = 0; i < log->nruns; i++) {
        size_t own = jr_span_sections(load->held[held + i].map);

        read_markers(load, log, &log->runs[i]);
        neighbours.after = sections - neighbours.before - own;
        add_run(load, log, &log->runs[i], &load->held[held + i], neighbours);
        neighbours.before += own;
    }
    leave_log(load, log);
    say_selected(load, log, first, sections);
    return 0;
}
