/* SPDX-License-Identifier: MIT
 *
 * Reads a tree's file, line by line.
 * Runs in: analyzer. */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "jp_log.h"
#include "line.h"
#include "secret.h"

#define TREE_SIZE_MAX (64ULL << 20) /* bytes: some 500,000 lines */

static const char *const events[] = {
    [JR_TREE_CHILD] = JP_TREE_CHILD, [JR_TREE_EXEC] = JP_TREE_EXEC,
    [JR_TREE_NOLOG] = JP_TREE_NOLOG, [JR_TREE_BRIEF] = JP_TREE_BRIEF,
    [JR_TREE_RUN] = JP_TREE_RUN,
};
#define EVENTS (sizeof events / sizeof *events)

/* The text behind `key`, "" when there is none; allocated. */
static char *take_text(const struct jr_line *line, const char *key)
{
    char *text = jr_line_text(line, key);

    return text ? text : jr_strdup("");
}

static char *take_args(const struct jr_line *line)
{
    const struct jr_line_pair *pair = jr_line_find(line, "args");

    return jr_join_args(pair ? pair->value : "", pair ? pair->length : 0);
}

static int take_id(const struct jr_line *line, const char *key, uint32_t *id)
{
    uint64_t number;

    if (jr_line_number(line, key, 10, &number) < 0 || number > UINT32_MAX)
        return -1;
    *id = (uint32_t)number;
    return 0;
}

static uint64_t number_of(const struct jr_line *line, const char *key)
{
    uint64_t number;

    return jr_line_number(line, key, 10, &number) < 0 ? 0 : number;
}

struct jr_tree_root jr_tree_root_of(const struct jp_log_header *header)
{
    return (struct jr_tree_root){.pid = header->root_pid,
                                 .space = header->root_space,
                                 .ticks = header->root_ticks};
}

int jr_tree_root_same(const struct jr_tree_root *one,
                      const struct jr_tree_root *other)
{
    return one->pid == other->pid &&
           (one->space == other->space || !one->space || !other->space) &&
           (one->ticks == other->ticks || !one->ticks || !other->ticks);
}

static int take_line(struct jr_tree *tree, const struct jr_line *line)
{
    struct jr_tree_line taken = {.time_ns = line->time_ns};

    while (taken.kind < EVENTS && strcmp(line->event, events[taken.kind]) != 0)
        taken.kind++;
    if (taken.kind == EVENTS)
        return 0; /* of a later version */
    if (take_id(line, "root", &taken.root.pid) < 0 ||
        take_id(line, "pid", &taken.pid) < 0)
        return -1;
    if (take_id(line, "ppid", &taken.ppid) < 0)
        taken.ppid = 0;
    if (take_id(line, "space", &taken.root.space) < 0)
        taken.root.space = 0;
    taken.root.ticks = number_of(line, "since");
    taken.cpu_ns = number_of(line, "cpu");
    taken.wall_ns = number_of(line, "wall");
    taken.before_ns = number_of(line, "before");
    taken.children_ns = number_of(line, "children");
    taken.ended = number_of(line, "ended") != 0;
    taken.why = take_text(line, "why");
    taken.path = take_text(line, "path");
    taken.args = take_args(line);
    taken.text = take_text(line, taken.kind == JR_TREE_RUN ? "jit" : "text");
    if (taken.kind == JR_TREE_RUN)
        taken.asked = jr_line_text(line, "asked");
    *JR_PUSH(tree->lines, tree->nlines, tree->lines_room) = taken;
    return 0;
}

void jr_tree_file_parse(const uint8_t *data, size_t size, struct jr_tree *tree,
                        struct jr_diag *diag)
{
    struct jr_line *line = jr_alloc(1, sizeof *line);
    const char *all = (const char *)data;

    for (size_t at = 0, length; at < size; at += length + 1) {
        const char *newline = memchr(all + at, '\n', size - at);

        length = newline ? (size_t)(newline - all) - at : size - at;
        if (!newline)
            jr_warn(diag, tree->path, at, "the last line is cut; left out");
        else if (jr_line_parse(line, all + at, length) < 0 ||
                 take_line(tree, line) < 0)
            jr_warn(diag, tree->path, at,
                    "is no line of a tree's file; left out");
    }
    free(line);
}

int jr_tree_file_read(const char *path, struct jr_tree *tree,
                      struct jr_diag *diag)
{
    struct jr_bytes bytes;
    const char *why;

    *tree = (struct jr_tree){.path = jr_strdup(path)};
    if (jr_file_read(path, TREE_SIZE_MAX, &bytes, &why) < 0) {
        jr_warn(diag, path, JR_NO_OFFSET,
                "%s; processes without a log are not known", why);
        return -1;
    }
    jr_file_read_for(&bytes.info);
    jr_tree_file_parse(bytes.data, bytes.size, tree, diag);
    free(bytes.data);
    return 0;
}

void jr_tree_file_free(struct jr_tree *tree)
{
    for (size_t i = 0; i < tree->nlines; i++) {
        free(tree->lines[i].why);
        free(tree->lines[i].path);
        free(tree->lines[i].args);
        free(tree->lines[i].text);
        free(tree->lines[i].asked);
    }
    free(tree->lines);
    free(tree->path);
    *tree = (struct jr_tree){0};
}
