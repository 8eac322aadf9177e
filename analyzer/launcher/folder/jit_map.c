/* SPDX-License-Identifier: MIT
 *
 * Reads what a map says of JIT files.  A map may be written by a program that
 * wishes its user ill: what it says is bounded here, and believed nowhere.
 * Runs in: launcher. */
#include "jit_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/runtimes/runtimes.h"
#include "read/line.h"

#define FILES_MAX 1000 /* of one map that are kept */

/* The event of a line, when it is one of those looked for; NULL. */
static const char *event_of(const char *line, size_t length)
{
    static const char *const events[] = {JP_MAP_PERFMAP, JP_MAP_JITDUMP,
                                         JP_MAP_PROCESS};
    size_t at = 0;

    while (at < length && line[at] >= '0' && line[at] <= '9')
        at++;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        size_t size = strlen(events[i]);

        if (length - at > size + 1 && line[at] == ' ' &&
            line[at + size + 1] == ' ' &&
            memcmp(line + at + 1, events[i], size) == 0)
            return events[i];
    }
    return NULL;
}

static void take_process(struct jl_jit_map *map, const struct jr_line *line)
{
    uint64_t pid;

    if (map->pid == 0 && jr_line_number(line, "pid", 10, &pid) == 0 &&
        pid <= INT32_MAX)
        map->pid = (uint32_t)pid;
}

/* The place for what is said of the file `inode`; NULL: there are too many. */
static struct jl_jit_line *place_of(struct jl_jit_map *map, uint64_t inode)
{
    for (size_t i = 0; i < map->nlines; i++)
        if (map->lines[i].inode == inode)
            return &map->lines[i];
    if (map->nlines == FILES_MAX)
        return NULL;
    *JR_PUSH(map->lines, map->nlines, map->lines_room) =
        (struct jl_jit_line){.inode = inode};
    return &map->lines[map->nlines - 1];
}

static void take_file(struct jl_jit_map *map, const struct jr_line *line,
                      size_t start, size_t length)
{
    struct jl_jit_line *place;
    uint64_t inode;
    char *path = jr_line_text(line, "path");

    place = path && jr_line_number(line, "inode", 10, &inode) == 0
                ? place_of(map, inode)
                : NULL;
    if (!place) {
        free(path);
        return;
    }
    free(place->path);
    free(place->saved);
    place->path = path;
    place->saved = jr_line_text(line, "saved");
    place->kind =
        strcmp(line->event, JP_MAP_PERFMAP) == 0 ? JL_PERFMAP : JL_JITDUMP;
    place->start = start;
    place->length = length;
}

void jl_jit_map_read(struct jl_jit_map *map, const char *data, size_t size)
{
    struct jr_line *line = jr_alloc(1, sizeof *line);

    *map = (struct jl_jit_map){0};
    for (size_t at = 0, length; at < size; at += length + 1) {
        const char *newline = memchr(data + at, '\n', size - at), *event;

        length = newline ? (size_t)(newline - data) - at : size - at;
        event = event_of(data + at, length);
        if (!event || jr_line_parse(line, data + at, length) < 0)
            continue;
        if (strcmp(event, JP_MAP_PROCESS) == 0)
            take_process(map, line);
        else
            take_file(map, line, at, length);
    }
    free(line);
}

void jl_jit_map_free(struct jl_jit_map *map)
{
    for (size_t i = 0; i < map->nlines; i++) {
        free(map->lines[i].path);
        free(map->lines[i].saved);
    }
    free(map->lines);
    *map = (struct jl_jit_map){0};
}
