/* SPDX-License-Identifier: MIT
 *
 * Orders the parts of a report, groups processes by program and role, and
 * decides how much of each is shown.
 * Runs in: analyzer. */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts.h"
#include "model/part_build.h"
#include "model/part_flat.h"
#include "model/scope.h"
#include "who.h"

/* Functions that all parts but the total show together, unless --limit says
 * how many each does; and the most and the least that one shows.  So 10,000
 * processes are pages of 40 MB at most, and three say nearly all. */
#define SHOWN_TOGETHER 20000
#define SHOWN_MOST 100
#define SHOWN_LEAST 10

/* Parts that stand for others are not listed with them. */
static size_t first_part(const struct jr_report *report)
{
    return report->nparts > 1 ? 1 : 0;
}

int jr_part_is_short(const struct jr_report *report, size_t part)
{
    return part >= 1 && report->limit != JR_NO_LIMIT;
}

static uint64_t functions_shown(const struct jr_report *report)
{
    uint64_t most;

    if (report->limit != 0)
        return report->limit;
    most = SHOWN_TOGETHER / (report->nparts ? report->nparts : 1);
    return most > SHOWN_MOST    ? SHOWN_MOST
           : most < SHOWN_LEAST ? SHOWN_LEAST
                                : most;
}

void jr_part_open(const struct jr_report *report, size_t number, uint64_t most,
                  size_t links, struct jr_part *part)
{
    const struct jr_scope_key *key = &report->parts[number];

    if (jr_part_is_short(report, number)) {
        jr_part_build_flat(report->model, key, most, part);
        return;
    }
    jr_part_build_for(report->model, key, links, part);
    if (report->limit != JR_NO_LIMIT)
        jr_part_cut(part);
}

/* A part that is to be grouped. */
struct member {
    char *name; /* of its group */
    size_t part;
    uint64_t weight_ns;
};

static int by_name(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    int by = strcmp(a->name, b->name);

    return by ? by : a->part < b->part ? -1 : a->part > b->part;
}

static int by_weight(const void *left, const void *right)
{
    const struct jr_group *a = left, *b = right;

    if (a->weight_ns != b->weight_ns)
        return a->weight_ns > b->weight_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Within a group; equal ones in the order of the report. */
static int by_group(const void *left, const void *right)
{
    const struct member *a = left, *b = right;

    if (a->weight_ns != b->weight_ns)
        return a->weight_ns > b->weight_ns ? -1 : 1;
    return a->part < b->part ? -1 : a->part > b->part;
}

static struct jr_group *add_group(struct jr_contents *contents, char *name,
                                  size_t first)
{
    struct jr_group *group = &contents->groups[contents->ngroups++];

    *group = (struct jr_group){.name = name, .first = first};
    return group;
}

static void add_to(struct jr_group *group, const struct jr_scope_key *key)
{
    group->count++;
    group->weight_ns = jr_add(group->weight_ns, key->weight_ns);
    group->samples += key->samples;
}

/* Makes groups of the members, which are in order of their names. */
static void group_members(const struct jr_report *report,
                          struct jr_contents *contents, struct member *members)
{
    struct jr_group *group = NULL;
    size_t at = 0;

    for (size_t i = 0; i < contents->nparts; i++) {
        if (group == NULL || strcmp(group->name, members[i].name) != 0)
            group = add_group(contents, jr_strdup(members[i].name), i);
        add_to(group, &report->parts[members[i].part]);
        free(members[i].name);
    }
    qsort(contents->groups, contents->ngroups, sizeof(*contents->groups),
          by_weight);
    for (size_t i = 0; i < contents->ngroups; i++) {
        struct member *first = members + contents->groups[i].first;

        qsort(first, contents->groups[i].count, sizeof(*first), by_group);
        contents->groups[i].first = at;
        for (size_t j = 0; j < contents->groups[i].count; j++)
            contents->parts[at++] = first[j].part;
    }
}

static void group_processes(const struct jr_report *report,
                            struct jr_contents *contents)
{
    const size_t first = first_part(report);
    struct member *members = jr_alloc(contents->nparts + 1, sizeof(*members));

    for (size_t i = 0; i < contents->nparts; i++) {
        const struct jr_scope_key *key = &report->parts[first + i];

        members[i] = (struct member){
            .name = jr_process_name(&report->model->processes[key->process]),
            .part = first + i,
            .weight_ns = key->weight_ns};
    }
    qsort(members, contents->nparts, sizeof(*members), by_name);
    group_members(report, contents, members);
    free(members);
}

void jr_contents_open(const struct jr_report *report,
                      struct jr_contents *contents)
{
    const size_t first = first_part(report);

    *contents = (struct jr_contents){.nparts = report->nparts - first,
                                     .most = functions_shown(report)};
    contents->parts = jr_alloc(contents->nparts + 1, sizeof(*contents->parts));
    contents->titles = jr_part_titles(report);
    contents->groups =
        jr_alloc(contents->nparts + 1, sizeof(*contents->groups));
    if (first > 0 && report->parts[first].scope == JR_SCOPE_PROCESS) {
        group_processes(report, contents);
        return;
    }
    for (size_t i = 0; i < contents->nparts; i++) {
        contents->parts[i] = first + i;
        add_to(add_group(contents, jr_strdup(""), i),
               &report->parts[first + i]);
    }
}

void jr_contents_close(const struct jr_report *report,
                       struct jr_contents *contents)
{
    for (size_t i = 0; i < contents->ngroups; i++)
        free(contents->groups[i].name);
    jr_part_titles_free(report, contents->titles);
    free(contents->groups);
    free(contents->parts);
    *contents = (struct jr_contents){0};
}
