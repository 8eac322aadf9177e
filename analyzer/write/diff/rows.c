/* SPDX-License-Identifier: MIT
 *
 * What functions and call paths weigh on each side, and how sure it is that
 * they differ.
 * Runs in: analyzer. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "diff.h"
#include "model/tiers.h"

#define NS 1e9

/* By node: what stacks that end there weigh, then those that go through it. */
typedef struct jr_diff_sum node_sums[JR_SIDES];

static void add(struct jr_diff_sum *to, const struct jr_diff_sum *sum)
{
    to->ns += sum->ns;
    to->variance += sum->variance;
}

/* The squares of a leaf's samples: they are taken to weigh the same. */
static node_sums *weigh_leaves(const struct jr_model *model,
                               struct jr_diff *diff)
{
    node_sums *sums = jr_alloc(model->nodes.count, sizeof(*sums));

    for (size_t i = 0; i < model->nleaves; i++) {
        const struct jr_leaf *leaf = &model->leaves[i];
        const struct jr_bucket *bucket = &model->buckets[leaf->bucket];
        const uint8_t side = model->processes[bucket->process].side;
        const double ns = (double)leaf->weight_ns;
        const struct jr_diff_sum sum = {
            ns, leaf->samples ? ns * ns / (double)leaf->samples : 0};

        add(&sums[leaf->node][side], &sum);
        add(&diff->whole[side], &sum);
        diff->samples[side] += leaf->samples;
    }
    return sums;
}

static struct jr_diff_row *row_of(struct jr_diff *diff, uint32_t *rows,
                                  uint32_t function)
{
    if (rows[function] == 0) {
        diff->rows[diff->nrows].function = function;
        rows[function] = (uint32_t)++diff->nrows;
    }
    return &diff->rows[rows[function] - 1];
}

/* Self weights to functions, and from each node to the one above it. */
static void weigh_functions(struct jr_diff *diff, node_sums *sums)
{
    const struct jr_model *model = diff->report->model;
    uint32_t *rows = jr_alloc(model->nfunctions + 1, sizeof(*rows));

    diff->rows = jr_alloc(model->nfunctions + 1, sizeof(*diff->rows));
    for (size_t i = 1; i < model->nodes.count; i++) {
        struct jr_diff_row *row;

        if (sums[i][JR_AFTER].ns <= 0 && sums[i][JR_BEFORE].ns <= 0)
            continue;
        row = row_of(diff, rows, jr_node_function(model, i));
        for (size_t side = 0; side < JR_SIDES; side++)
            add(&row->sides[side].self, &sums[i][side]);
    }
    /* Nodes come after those above them. */
    for (size_t i = model->nodes.count; i-- > 1;) {
        const uint32_t above = model->nodes.items[i].parent;
        struct jr_diff_row *row;

        if (sums[i][JR_AFTER].ns <= 0 && sums[i][JR_BEFORE].ns <= 0)
            continue;
        row = row_of(diff, rows, jr_node_function(model, i));
        for (size_t side = 0; side < JR_SIDES; side++) {
            if (model->first[i] & JR_FIRST_FUNCTION)
                add(&row->sides[side].total, &sums[i][side]);
            add(&sums[above][side], &sums[i][side]);
        }
    }
    free(rows);
}

static int heavier(const void *left, const void *right)
{
    const struct jr_diff_path *a = left, *b = right;

    if (a->sum.ns != b->sum.ns)
        return a->sum.ns > b->sum.ns ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

/* By node: the first one whose functions are the same up to the root, in
 * whatever tiers, has the sums of all of them. */
static void join_paths(const struct jr_model *model, const uint32_t *same,
                       node_sums *sums)
{
    for (size_t i = 1; i < model->nodes.count; i++) {
        if (same[i] == i)
            continue;
        for (size_t side = 0; side < JR_SIDES; side++)
            add(&sums[same[i]][side], &sums[i][side]);
    }
}

static void find_paths(struct jr_diff *diff, node_sums *sums)
{
    const struct jr_model *model = diff->report->model;
    uint32_t *same = jr_part_same_paths(model);

    join_paths(model, same, sums);
    for (uint32_t i = 1; i < model->nodes.count; i++) {
        const uint32_t above = same[model->nodes.items[i].parent];
        const uint8_t side = sums[i][JR_AFTER].ns > 0 ? JR_AFTER : JR_BEFORE;

        if (same[i] != i || sums[i][side].ns <= 0 || sums[i][!side].ns > 0 ||
            sums[above][!side].ns <= 0)
            continue;
        *JR_PUSH(diff->paths, diff->npaths, diff->paths_room) =
            (struct jr_diff_path){i, side, sums[i][side]};
    }
    if (diff->npaths > 0)
        qsort(diff->paths, diff->npaths, sizeof(*diff->paths), heavier);
    free(same);
}

void jr_diff_open(struct jr_diff *diff, const struct jr_report *report)
{
    node_sums *sums;

    *diff = (struct jr_diff){.report = report};
    for (size_t i = report->model->nprocesses; i-- > 0;) {
        const struct jr_process *process = &report->model->processes[i];

        diff->period_ns[process->side] = process->run->header.period_ns;
    }
    sums = weigh_leaves(report->model, diff);
    weigh_functions(diff, sums);
    find_paths(diff, sums);
    diff->limit = sqrt(4 + 2 * log(diff->nrows > 1 ? (double)diff->nrows : 1));
    free(sums);
}

void jr_diff_close(struct jr_diff *diff)
{
    free(diff->rows);
    free(diff->paths);
    *diff = (struct jr_diff){0};
}

/* A sum's share of its side or time a unit of work, and its variance.  What was
 * seen in no sample may have been in one. */
static double measure(const struct jr_diff *diff, unsigned side,
                      const struct jr_diff_sum *sum, double *variance)
{
    const struct jr_diff_sum *whole = &diff->whole[side];
    const double least =
        diff->samples[side] > 0 ? whole->ns / (double)diff->samples[side] : 0;
    const double own =
        sum->variance > least * least ? sum->variance : least * least;
    const double units = diff->report->units[side] * NS;
    double share;

    if (diff->report->per) {
        *variance = own / (units * units);
        return sum->ns / units;
    }
    if (whole->ns <= 0) {
        *variance = 0;
        return 0;
    }
    share = sum->ns / whole->ns;
    *variance = ((1 - 2 * share) * own + share * share * whole->variance) /
                (whole->ns * whole->ns);
    /* All of its side, but for rounding. */
    if (*variance < 0)
        *variance = 0;
    return share;
}

struct jr_difference jr_diff_compare(const struct jr_diff *diff,
                                     const struct jr_diff_sum *before,
                                     const struct jr_diff_sum *after)
{
    struct jr_difference result;
    double variance_before, variance_after;

    result.before = measure(diff, JR_BEFORE, before, &variance_before);
    result.after = measure(diff, JR_AFTER, after, &variance_after);
    result.step = result.after - result.before;
    result.error = sqrt(variance_before + variance_after);
    result.is_sure = diff->samples[JR_BEFORE] > 0 &&
                     diff->samples[JR_AFTER] > 0 &&
                     fabs(result.step) > diff->limit * result.error;
    return result;
}
