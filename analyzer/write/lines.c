/* SPDX-License-Identifier: MIT
 *
 * Hits of a function's code by source line.
 * Runs in: analyzer. */
#include "lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct adding {
    struct jr_source_lines *lines;
    uint64_t weight_ns;
};

static int same_line(const struct jr_frame *one, const struct jr_frame *other)
{
    return one->name == other->name && one->inlined == other->inlined &&
           one->line == other->line && one->file && other->file &&
           strcmp(one->file, other->file) == 0;
}

size_t jr_source_lines_of(const struct jr_frames *frames, size_t depth,
                          jr_source_fn *put, void *data)
{
    size_t found = 0;

    for (size_t i = 0; i < depth; i++) {
        const struct jr_frame *frame = &frames->items[i];
        size_t before = 0;

        if (!frame->file || frame->line == 0)
            continue;
        while (before < i && !same_line(&frames->items[before], frame))
            before++;
        if (before < i)
            continue;
        put(data, frame, i);
        found++;
    }
    return found;
}

static void add_line(void *data, const struct jr_frame *frame, size_t number)
{
    const struct adding *adding = data;
    struct jr_source_lines *lines = adding->lines;

    *JR_PUSH(lines->items, lines->count, lines->room) =
        (struct jr_source_line){.name = frame->name,
                                .file = frame->file,
                                .line = frame->line,
                                .inlined = frame->inlined,
                                .self_ns = number == 0 ? adding->weight_ns : 0,
                                .total_ns = adding->weight_ns};
}

static int by_name(const char *one, const char *other)
{
    if (one == other)
        return 0;
    return !one ? -1 : !other ? 1 : strcmp(one, other);
}

static int compare_lines(const void *left, const void *right)
{
    const struct jr_source_line *a = left, *b = right;
    int by = a->inlined - b->inlined;

    if (by == 0)
        by = by_name(a->name, b->name);
    if (by == 0)
        by = strcmp(a->file, b->file);
    return by ? by : a->line < b->line ? -1 : a->line > b->line;
}

int jr_source_lines_near(const struct jr_source_line *one,
                         const struct jr_source_line *other)
{
    return one->inlined == other->inlined &&
           by_name(one->name, other->name) == 0 &&
           strcmp(one->file, other->file) == 0;
}

static void join(struct jr_source_lines *lines)
{
    size_t kept = 0;

    for (size_t i = 0; i < lines->count; i++) {
        const struct jr_source_line line = lines->items[i];
        struct jr_source_line *last = kept ? &lines->items[kept - 1] : NULL;

        if (last && compare_lines(last, &line) == 0) {
            last->self_ns = jr_add(last->self_ns, line.self_ns);
            last->total_ns = jr_add(last->total_ns, line.total_ns);
        } else {
            lines->items[kept++] = line;
        }
    }
    lines->count = kept;
}

/* The lines of a function in a file. */
struct group {
    size_t first, count;
    uint64_t weight_ns;
    int is_own;
};

static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left, *b = right;

    if (a->is_own != b->is_own)
        return b->is_own - a->is_own;
    if (a->weight_ns != b->weight_ns)
        return a->weight_ns > b->weight_ns ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Whether the line is of the function itself. */
static int is_own(const struct jr_function *function,
                  const struct jr_source_line *line)
{
    return !line->name ||
           (line->inlined == function->inlined && line->name == function->name);
}

/* Puts the groups in order. */
static void order(const struct jr_function *function,
                  struct jr_source_lines *lines)
{
    struct jr_source_line *items = jr_alloc(lines->count + 1, sizeof(*items));
    struct group *groups = jr_alloc(lines->count + 1, sizeof(*groups));
    size_t ngroups = 0, kept = 0;

    for (size_t i = 0; i < lines->count; i++) {
        const struct jr_source_line *line = &lines->items[i];

        if (i == 0 || !jr_source_lines_near(line, line - 1))
            groups[ngroups++] =
                (struct group){.first = i, .is_own = is_own(function, line)};
        groups[ngroups - 1].count++;
        groups[ngroups - 1].weight_ns =
            jr_add(groups[ngroups - 1].weight_ns, line->total_ns);
    }
    if (ngroups > 0)
        qsort(groups, ngroups, sizeof(*groups), compare_groups);
    for (size_t i = 0; i < ngroups; i++) {
        memcpy(items + kept, lines->items + groups[i].first,
               groups[i].count * sizeof(*items));
        kept += groups[i].count;
    }
    free(groups);
    free(lines->items);
    lines->items = items;
    lines->room = lines->count + 1;
}

void jr_source_lines_build(const struct jr_model *model,
                           const struct jr_code_view *view,
                           struct jr_source_lines *lines)
{
    const struct jr_function *function = &model->functions[view->function];

    *lines = (struct jr_source_lines){0};
    for (size_t i = 0; i < view->nversions; i++) {
        const struct jr_code_version *version = &view->versions[i];

        for (size_t j = 0; j < version->nhits; j++) {
            struct adding adding = {lines, version->hits[j].weight_ns};
            struct jr_frame room;
            const struct jr_frames frames =
                jr_code_frames(&version->code, version->hits[j].address, &room);

            if (jr_source_lines_of(&frames, jr_code_depth(function, &frames),
                                   add_line, &adding) == 0)
                lines->unknown_ns =
                    jr_add(lines->unknown_ns, version->hits[j].weight_ns);
        }
    }
    if (lines->count > 0)
        qsort(lines->items, lines->count, sizeof(*lines->items), compare_lines);
    join(lines);
    order(function, lines);
}
