/* SPDX-License-Identifier: MIT
 *
 * Reads a map: the lines of one run, in order of time, each handed to the
 * handler of its event.
 * Runs in: analyzer. */
#include "map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/mem.h"
#include "jp_script.h"
#include "line.h"
#include "mappings.h"
#include "secret.h"

#define MAP_SIZE_MAX (1ULL << 30) /* bytes; no program writes such a map */

/* A line that was found but not yet handled. */
struct found {
    uint64_t time_ns;
    const struct jr_map_part *part;
    size_t at, length;
};

struct parser {
    struct jr_map *map;
    struct jr_diag *diag;
    struct jr_live live;
    struct found *found;
    size_t nfound, found_room;
    struct jr_line line;
};

/* Sets *to to the text behind `key`, when there is one. */
static void take_text(char **to, const struct jr_line *line, const char *key)
{
    char *text = jr_line_text(line, key);

    if (text) {
        free(*to);
        *to = text;
    }
}

static void take_cpu(struct parser *parser)
{
    uint64_t cpu;

    if (jr_line_number(&parser->line, "cpu", 10, &cpu) == 0)
        parser->map->end_cpu_ns = cpu;
}

static int on_process(struct parser *parser)
{
    struct jr_map *map = parser->map;
    const struct jr_line_pair *pair = jr_line_find(&parser->line, "cmdline");
    uint64_t ppid;

    if (jr_line_number(&parser->line, "ppid", 10, &ppid) == 0)
        map->ppid = (uint32_t)ppid;
    take_text(&map->exe, &parser->line, "exe");
    take_text(&map->comm, &parser->line, "comm");
    take_text(&map->host, &parser->line, "host");
    take_text(&map->cwd, &parser->line, "cwd");
    if (pair) {
        free(map->cmdline);
        map->cmdline = jr_join_args(pair->value, pair->length);
    }
    return 0;
}

/* Reads start and end of a mapping; -1 when there is none. */
static int take_range(struct parser *parser, uint64_t *start, uint64_t *end)
{
    if (jr_line_number(&parser->line, "start", 16, start) < 0 ||
        jr_line_number(&parser->line, "end", 16, end) < 0)
        return -1;
    return *start < *end ? 0 : -1;
}

/* Reads the build-id of a module, if it has one; -1 when it is malformed. */
static int take_build_id(struct jr_mapping *mapping, const struct jr_line *line)
{
    const struct jr_line_pair *pair = jr_line_find(line, "build_id");
    uint64_t byte;

    if (!pair)
        return 0;
    if (pair->length % 2 || pair->length / 2 > sizeof mapping->build_id)
        return -1;
    for (size_t i = 0; i < pair->length / 2; i++) {
        if (jr_parse_number(pair->value + 2 * i, 2, 16, &byte) < 0)
            return -1;
        mapping->build_id[i] = (uint8_t)byte;
    }
    mapping->build_id_size = (uint8_t)(pair->length / 2);
    return 0;
}

static int on_module(struct parser *parser)
{
    struct jr_mapping mapping = {.from_ns = parser->line.time_ns,
                                 .until_ns = UINT64_MAX};
    uint64_t deleted = 0;

    if (take_range(parser, &mapping.start, &mapping.end) < 0 ||
        jr_line_number(&parser->line, "offset", 16, &mapping.offset) < 0 ||
        take_build_id(&mapping, &parser->line) < 0)
        return -1;
    mapping.has_bias =
        jr_line_number(&parser->line, "bias", 16, &mapping.bias) == 0;
    if (jr_line_number(&parser->line, "inode", 10, &mapping.inode) < 0)
        mapping.inode = 0;
    if (jr_line_number(&parser->line, "mtime", 10, &mapping.mtime_ns) < 0)
        mapping.mtime_ns = 0;
    mapping.deleted =
        jr_line_number(&parser->line, "deleted", 10, &deleted) == 0 && deleted;
    mapping.path = jr_line_text(&parser->line, "path");
    if (!mapping.path)
        return -1;
    jr_mappings_add(&parser->map->mappings, &parser->live, &mapping);
    return 0;
}

static int on_anon(struct parser *parser)
{
    struct jr_mapping mapping = {.from_ns = parser->line.time_ns,
                                 .until_ns = UINT64_MAX,
                                 .anonymous = 1};

    if (take_range(parser, &mapping.start, &mapping.end) < 0)
        return -1;
    mapping.path = jr_line_text(&parser->line, "name");
    if (!mapping.path)
        mapping.path = jr_strdup("");
    jr_mappings_add(&parser->map->mappings, &parser->live, &mapping);
    return 0;
}

static int on_unmap(struct parser *parser)
{
    uint64_t start, end;

    if (take_range(parser, &start, &end) < 0)
        return -1;
    jr_mappings_unmap(&parser->map->mappings, &parser->live, start, end,
                      parser->line.time_ns);
    return 0;
}

static int on_thread(struct parser *parser)
{
    struct jr_map *map = parser->map;
    struct jr_thread_name thread = {.time_ns = parser->line.time_ns};
    uint64_t tid;

    if (jr_line_number(&parser->line, "tid", 10, &tid) < 0 || tid > UINT32_MAX)
        return -1;
    thread.tid = (uint32_t)tid;
    thread.name = jr_line_text(&parser->line, "name");
    if (!thread.name)
        return -1;
    *JR_PUSH(map->threads, map->nthreads, map->threads_room) = thread;
    return 0;
}

static int on_kernel(struct parser *parser)
{
    struct jr_map *map = parser->map;
    struct jr_kernel_thread thread = {.time_ns = parser->line.time_ns};

    if (jr_line_number(&parser->line, "cpu", 10, &thread.cpu_ns) < 0)
        return -1;
    thread.name = jr_line_text(&parser->line, "name");
    if (!thread.name)
        return -1;
    *JR_PUSH(map->kernel, map->nkernel, map->kernel_room) = thread;
    return 0;
}

/* MAJOR:MINOR as st_dev; 0 when there is none. */
static uint64_t take_device(const struct jr_line *line)
{
    const struct jr_line_pair *pair = jr_line_find(line, "dev");
    const char *colon = pair ? memchr(pair->value, ':', pair->length) : NULL;
    uint64_t major, minor;
    size_t length;

    if (!colon)
        return 0;
    length = (size_t)(colon - pair->value);
    if (jr_parse_number(pair->value, length, 10, &major) < 0 ||
        jr_parse_number(colon + 1, pair->length - length - 1, 10, &minor) < 0)
        return 0;
    return makedev((unsigned)major, (unsigned)minor);
}

static int take_jit(struct parser *parser, uint8_t is_dump)
{
    struct jr_map *map = parser->map;
    struct jr_jit_file file = {.time_ns = parser->line.time_ns,
                               .is_dump = is_dump};

    if (jr_line_number(&parser->line, "size", 10, &file.size) < 0)
        return -1;
    if (jr_line_number(&parser->line, "inode", 10, &file.inode) < 0)
        file.inode = 0;
    if (jr_line_number(&parser->line, "since", 10, &file.since_ns) < 0 ||
        file.since_ns >= file.time_ns)
        file.since_ns = 0;
    if (jr_line_number(&parser->line, "tail", 16, &file.tail) < 0)
        file.tail = 0;
    file.inherited = jr_line_find(&parser->line, "inherited") != NULL;
    file.device = take_device(&parser->line);
    file.path = jr_line_text(&parser->line, "path");
    if (!file.path)
        return -1;
    file.saved = jr_line_text(&parser->line, "saved");
    *JR_PUSH(map->jit, map->njit, map->jit_room) = file;
    return 0;
}

static int on_perfmap(struct parser *parser)
{
    return take_jit(parser, 0);
}

static int on_jitdump(struct parser *parser)
{
    return take_jit(parser, 1);
}

static int on_code(struct parser *parser)
{
    struct jr_map *map = parser->map;
    struct jr_code_copy copy = {.time_ns = parser->line.time_ns};

    if (jr_line_number(&parser->line, "start", 16, &copy.start) < 0 ||
        jr_line_number(&parser->line, "end", 16, &copy.end) < 0 ||
        jr_line_number(&parser->line, "offset", 16, &copy.offset) < 0 ||
        copy.start >= copy.end)
        return -1;
    copy.saved = jr_line_text(&parser->line, "saved");
    if (!copy.saved)
        return -1;
    *JR_PUSH(map->copies, map->ncopies, map->copies_room) = copy;
    return 0;
}

static struct jr_section take_moment(struct parser *parser)
{
    struct jr_section moment = {.time_ns = parser->line.time_ns};

    take_cpu(parser);
    if (jr_line_number(&parser->line, "cpu", 10, &moment.cpu_ns) < 0)
        moment.cpu_ns = 0;
    return moment;
}

static int on_section(struct parser *parser)
{
    struct jr_map *map = parser->map;

    *JR_PUSH(map->sections, map->nsections, map->sections_room) =
        take_moment(parser);
    return 0;
}

static int on_pause(struct parser *parser)
{
    struct jr_map *map = parser->map;

    *JR_PUSH(map->pauses, map->npauses, map->pauses_room) = take_moment(parser);
    return 0;
}

static int on_clear(struct parser *parser)
{
    parser->map->clear = take_moment(parser);
    return 0;
}

static int on_exit_line(struct parser *parser)
{
    take_cpu(parser);
    parser->map->exited = 1;
    parser->map->end_ns = parser->line.time_ns;
    return 0;
}

static int on_note(struct parser *parser)
{
    struct jr_map *map = parser->map;
    char *text = jr_line_text(&parser->line, "text");

    if (!text)
        return -1;
    *JR_PUSH(map->notes, map->nnotes, map->notes_room) = text;
    return 0;
}

static int on_script(struct parser *parser)
{
    const struct jr_line *line = &parser->line;
    const struct jr_line_pair *lines = jr_line_find(line, "lines");
    struct jr_scripts *scripts = &parser->map->scripts;
    uint64_t id, first = 0;

    if (jr_line_number(line, "id", 10, &id) < 0 || id == 0 ||
        id > JP_SCRIPT_ID_MAX)
        return -1;
    if (jr_line_find(line, "name")) {
        if (jr_line_number(line, "line", 10, &first) < 0 || first > INT32_MAX)
            first = 0;
        jr_scripts_add(scripts, (uint32_t)id, (uint32_t)first,
                       jr_line_text(line, "name"), jr_line_text(line, "file"));
    }
    if (lines)
        jr_scripts_add_lines(scripts, (uint32_t)id, lines->value,
                             lines->length);
    return 0;
}

/* An interpreter whose functions the library does not read is worth a note. */
static int on_runtime(struct parser *parser)
{
    struct jr_map *map = parser->map;
    uint64_t known;
    char *name, *version;

    if (jr_line_number(&parser->line, "known", 10, &known) == 0 && known)
        return 0;
    name = jr_line_text(&parser->line, "name");
    version = jr_line_text(&parser->line, "version");
    *JR_PUSH(map->notes, map->nnotes, map->notes_room) =
        jr_printf("The functions that %s %s runs are not shown: jprof does not "
                  "know this version or build",
                  name ? name : "an interpreter", version ? version : "");
    free(name);
    free(version);
    return 0;
}

/* Events without a handler, as unknown ones, say nothing to the report.  What
 * is said of code holds for a process that branches off as well. */
static const struct {
    const char *event;
    int (*handle)(struct parser *parser);
    int is_code;
} handlers[] = {
    {JP_MAP_PROCESS, on_process, 0}, {JP_MAP_MODULE, on_module, 1},
    {JP_MAP_ANON, on_anon, 1},       {JP_MAP_UNMAP, on_unmap, 1},
    {JP_MAP_THREAD, on_thread, 0},   {JP_MAP_PERFMAP, on_perfmap, 0},
    {JP_MAP_JITDUMP, on_jitdump, 0}, {JP_MAP_CODE, on_code, 0},
    {JP_MAP_SECTION, on_section, 0}, {JP_MAP_PAUSE, on_pause, 0},
    {JP_MAP_CLEAR, on_clear, 0},     {JP_MAP_EXIT, on_exit_line, 0},
    {JP_MAP_NOTE, on_note, 0},       {JP_MAP_KERNEL, on_kernel, 0},
    {JP_MAP_SCRIPT, on_script, 0},   {JP_MAP_RUNTIME, on_runtime, 0},
};

static int handle(struct parser *parser, const struct jr_map_part *part)
{
    if (!parser->map->exited && !part->of_base)
        parser->map->end_ns = parser->line.time_ns;
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        if (!strcmp(parser->line.event, handlers[i].event))
            return handlers[i].is_code || !part->of_base
                       ? handlers[i].handle(parser)
                       : 0;
    }
    return 0;
}

/* Whether this is the first line of the run that is asked for. */
static int begins_run(const struct parser *parser,
                      const struct jr_map_part *part)
{
    uint64_t pid, start;

    return jr_line_number(&parser->line, "pid", 10, &pid) == 0 &&
           jr_line_number(&parser->line, "start", 10, &start) == 0 &&
           pid == part->pid && start == part->start_ticks;
}

static void find_line(struct parser *parser, const struct jr_map_part *part,
                      struct found found)
{
    found.time_ns = parser->line.time_ns;
    if (found.time_ns <= part->until_ns)
        *JR_PUSH(parser->found, parser->nfound, parser->found_room) = found;
}

/* Finds the lines of the run in a part.  Returns -1 when the run is not
 * there. */
static int find_lines(struct parser *parser, const struct jr_map_part *part)
{
    int inside = part->is_text, seen = part->is_text;
    size_t at = 0;

    while (at < part->size) {
        const char *text = (const char *)part->data + at;
        const char *newline = memchr(text, '\n', part->size - at);
        size_t length = newline ? (size_t)(newline - text) : part->size - at;

        if (!newline) {
            jr_warn(parser->diag, part->path, at,
                    "the last line is cut; left out");
        } else if (jr_line_parse(&parser->line, text, length) < 0) {
            jr_warn(parser->diag, part->path, at,
                    "is no line of a map; left out");
        } else if (!part->is_text &&
                   !strcmp(parser->line.event, JP_MAP_BEGIN)) {
            inside = begins_run(parser, part);
            if (inside && !seen && !part->of_base) {
                parser->map->begin_ns = parser->line.time_ns;
                if (jr_line_number(&parser->line, "real", 10,
                                   &parser->map->real_ns) < 0)
                    parser->map->real_ns = 0;
            }
            seen |= inside;
        } else if (inside) {
            find_line(parser, part, (struct found){0, part, at, length});
        }
        at += length + 1;
    }
    return seen ? 0 : -1;
}

/* Threads write their lines without waiting for each other, so neighbours may
 * have changed places. */
static int by_time(const void *one, const void *other)
{
    const struct found *a = one, *b = other;

    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static void fill_missing(char **text)
{
    if (!*text)
        *text = jr_strdup("");
}

static void handle_all(struct parser *parser)
{
    if (parser->nfound)
        qsort(parser->found, parser->nfound, sizeof *parser->found, by_time);
    for (size_t i = 0; i < parser->nfound; i++) {
        const struct found *found = &parser->found[i];

        jr_line_parse(&parser->line,
                      (const char *)found->part->data + found->at,
                      found->length);
        if (handle(parser, found->part) < 0)
            jr_warn(parser->diag, found->part->path, found->at,
                    "%s line lacks a value or has a wrong one; left out",
                    parser->line.event);
    }
}

static int parse(const struct jr_map_part *parts, size_t nparts,
                 struct jr_map *map, struct jr_diag *diag)
{
    struct parser *parser = jr_alloc(1, sizeof *parser);
    int result = 0;

    parser->map = map;
    parser->diag = diag;
    for (size_t i = 0; i < nparts; i++) {
        if (find_lines(parser, &parts[i]) == 0)
            continue;
        result = -1;
        jr_warn(diag, parts[i].path, JR_NO_OFFSET,
                "has no part for process %u; its modules and threads are "
                "unknown",
                parts[i].pid);
    }
    handle_all(parser);
    fill_missing(&map->exe);
    fill_missing(&map->comm);
    fill_missing(&map->host);
    fill_missing(&map->cmdline);
    free(parser->found);
    free(parser->live.indices);
    free(parser);
    return result;
}

int jr_map_parse(const uint8_t *data, size_t size, struct jr_map *map,
                 struct jr_diag *diag)
{
    const struct jr_map_part part = {.path = map->path,
                                     .data = data,
                                     .size = size,
                                     .pid = map->pid,
                                     .start_ticks = map->start_ticks,
                                     .until_ns = UINT64_MAX};

    return parse(&part, 1, map, diag);
}

/* Reads a file among the parts.  One that cannot be read is empty, and counts
 * as text; -1 then. */
static int read_part(struct jr_map_part *part, struct jr_diag *diag)
{
    struct jr_bytes bytes;
    const char *why;

    if (jr_file_read(part->path, MAP_SIZE_MAX, &bytes, &why) == 0) {
        jr_file_read_for(&bytes.info);
        part->data = bytes.data;
        part->size = bytes.size;
        return 0;
    }
    jr_warn(diag, part->path, JR_NO_OFFSET,
            "%s; modules and threads are unknown", why);
    part->is_text = 1;
    part->size = 0;
    return -1;
}

int jr_map_join(struct jr_map_part *parts, size_t nparts, struct jr_map *map,
                struct jr_diag *diag)
{
    int result = 0;

    for (size_t i = 0; i < nparts; i++)
        if (!parts[i].is_text && read_part(&parts[i], diag) < 0)
            result = -1;
    if (parse(parts, nparts, map, diag) < 0)
        result = -1;
    for (size_t i = 0; i < nparts; i++)
        if (!parts[i].is_text)
            free((void *)(uintptr_t)parts[i].data);
    return result;
}

int jr_map_read(const char *path, uint32_t pid, uint64_t start_ticks,
                struct jr_map *map, struct jr_diag *diag)
{
    struct jr_map_part part = {.path = path,
                               .pid = pid,
                               .start_ticks = start_ticks,
                               .until_ns = UINT64_MAX};

    memset(map, 0, sizeof *map);
    map->path = jr_strdup(path);
    map->pid = pid;
    map->start_ticks = start_ticks;
    return jr_map_join(&part, 1, map, diag);
}

void jr_map_free(struct jr_map *map)
{
    for (size_t i = 0; i < map->mappings.count; i++)
        free(map->mappings.items[i].path);
    for (size_t i = 0; i < map->nthreads; i++)
        free(map->threads[i].name);
    for (size_t i = 0; i < map->nkernel; i++)
        free(map->kernel[i].name);
    for (size_t i = 0; i < map->njit; i++) {
        free(map->jit[i].path);
        free(map->jit[i].saved);
    }
    for (size_t i = 0; i < map->ncopies; i++)
        free(map->copies[i].saved);
    for (size_t i = 0; i < map->nnotes; i++)
        free(map->notes[i]);
    free(map->copies);
    jr_scripts_free(&map->scripts);
    free(map->mappings.items);
    free(map->threads);
    free(map->jit);
    free(map->kernel);
    free(map->sections);
    free(map->pauses);
    free(map->notes);
    free(map->path);
    free(map->exe);
    free(map->cwd);
    free(map->comm);
    free(map->host);
    free(map->cmdline);
    memset(map, 0, sizeof *map);
}
