/* SPDX-License-Identifier: MIT
 *
 * The text report of two profiles: functions by difference, and call paths
 * that one side alone has.
 * Runs in: analyzer. */
#include "diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "model/build.h"
#include "model/part_build.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/figures.h"
#include "write/selection.h"

#define NS 1e9
#define ROWS_SHOWN 200 /* functions of each table, */
#define PATHS_SHOWN 20 /* and call paths, unless --limit says otherwise */
#define FRAMES_SHOWN 6 /* of a call path, from its end on */

static const struct jr_diff_sum *sum_of(const struct jr_diff_row *row,
                                        unsigned side, int hits)
{
    return hits ? &row->sides[side].total : &row->sides[side].self;
}

/* A row with its difference, for putting rows in order. */
struct ranked {
    const struct jr_diff_row *row;
    struct jr_difference difference;
};

static const struct jr_model *order_model; /* for by_size */

static int by_size(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    const double by = fabs(b->difference.step) - fabs(a->difference.step);

    if (a->difference.is_sure != b->difference.is_sure)
        return a->difference.is_sure ? -1 : 1;
    if (by > 0 || by < 0)
        return by > 0 ? 1 : -1;
    return jr_part_compare_functions(order_model, a->row->function,
                                     b->row->function);
}

/* Rows that weigh something, sure differences first, the largest first; the
 * caller frees them. */
static struct ranked *rank(const struct jr_diff *diff, int hits, size_t *count)
{
    struct ranked *ranked = jr_alloc(diff->nrows + 1, sizeof(*ranked));

    *count = 0;
    for (size_t i = 0; i < diff->nrows; i++) {
        const struct jr_diff_row *row = &diff->rows[i];
        const struct jr_diff_sum *before = sum_of(row, JR_BEFORE, hits);
        const struct jr_diff_sum *after = sum_of(row, JR_AFTER, hits);

        if (before->ns > 0 || after->ns > 0)
            ranked[(*count)++] =
                (struct ranked){row, jr_diff_compare(diff, before, after)};
    }
    order_model = diff->report->model;
    qsort(ranked, *count, sizeof(*ranked), by_size);
    return ranked;
}

/* A share, or time a unit of work. */
static void put_measure(const struct jr_diff *diff, double value, int has_sign,
                        FILE *out)
{
    if (diff->report->per)
        fprintf(out, has_sign ? "%+13.6f ms" : "%13.6f ms", value * 1e3);
    else
        fprintf(out, has_sign ? "%+8.2f%%" : "%8.2f%%", value * 100);
}

static void put_function(const struct jr_diff *diff, uint32_t function,
                         FILE *out)
{
    const struct jr_function *of = &diff->report->model->functions[function];
    const char *module = jr_shown_module(of);

    jr_put_text(out, of->name);
    if (of->tier)
        fprintf(out, " [%s]", of->tier);
    if (*module) {
        fputs("  (", out);
        jr_put_text(out, module);
        fputc(')', out);
    }
}

/* In periods of the side itself, as its own report has them: a profile of
 * another tool may count other things than time. */
static uint64_t periods(const struct jr_diff *diff, unsigned side,
                        const struct jr_diff_sum *sum)
{
    return jr_periods_of(diff->period_ns[side],
                         sum->ns < 1.8e19 ? (uint64_t)sum->ns : UINT64_MAX);
}

/* What has weight on one side alone, in itself or below. */
static void put_side_word(const struct jr_diff *diff,
                          const struct jr_diff_row *row, FILE *out)
{
    const struct jr_diff_sum *before = &row->sides[JR_BEFORE].total;
    const struct jr_diff_sum *after = &row->sides[JR_AFTER].total;
    const int is_sure = jr_diff_compare(diff, before, after).is_sure;

    if (before->ns <= 0)
        fputs(is_sure ? "  [new]" : "  [only after]", out);
    else if (after->ns <= 0)
        fputs(is_sure ? "  [vanished]" : "  [only before]", out);
}

static void put_row(const struct jr_diff *diff, const struct ranked *ranked,
                    int hits, FILE *out)
{
    const struct jr_diff_sum *before = sum_of(ranked->row, JR_BEFORE, hits);
    const struct jr_diff_sum *after = sum_of(ranked->row, JR_AFTER, hits);

    fprintf(out, "%8" PRIu64 " %8" PRIu64 " ", periods(diff, JR_BEFORE, before),
            periods(diff, JR_AFTER, after));
    put_measure(diff, ranked->difference.before, 0, out);
    put_measure(diff, ranked->difference.after, 0, out);
    put_measure(diff, ranked->difference.step, 1, out);
    fputs(ranked->difference.is_sure ? " *  " : "    ", out);
    put_function(diff, ranked->row->function, out);
    put_side_word(diff, ranked->row, out);
    fputc('\n', out);
}

static size_t shown(const struct jr_diff *diff, size_t usual)
{
    const uint64_t limit = diff->report->limit;

    return limit == 0 ? usual : limit < SIZE_MAX ? (size_t)limit : SIZE_MAX;
}

static void put_table(const struct jr_diff *diff, int hits, FILE *out)
{
    size_t count, sure = 0;
    struct ranked *ranked = rank(diff, hits, &count);
    const size_t most = shown(diff, ROWS_SHOWN);

    while (sure < count && ranked[sure].difference.is_sure)
        sure++;
    fprintf(out, "\n%s by Difference: %zu of %zu functions differ surely\n\n",
            hits ? "Hits (total)" : "Count (self)", sure, count);
    fprintf(out, "  Before    After   %*s%*s%*s     Function Name\n",
            diff->report->per ? 15 : 8, "Before", diff->report->per ? 16 : 9,
            "After", diff->report->per ? 16 : 9, "Change");
    for (size_t i = 0; i < count && i < most; i++)
        put_row(diff, &ranked[i], hits, out);
    if (count > most)
        fprintf(out, "%zu more functions, with smaller or unsure differences\n",
                count - most);
    free(ranked);
}

/* The last frames of a call path, root-most first. */
static void put_path(const struct jr_diff *diff, uint32_t node, FILE *out)
{
    const struct jr_model *model = diff->report->model;
    uint32_t frames[FRAMES_SHOWN] = {0};
    size_t count = 0;

    for (; node != 0 && count < FRAMES_SHOWN;
         node = model->nodes.items[node].parent)
        frames[count++] = jr_node_function(model, node);
    if (node != 0)
        fputs("...; ", out);
    while (count-- > 0) {
        jr_put_text(out, model->functions[frames[count]].name);
        fputs(count > 0 ? "; " : "\n", out);
    }
}

/* Call paths of one side alone that chance would hardly have left out of the
 * other, and how many others there are. */
static void put_paths(const struct jr_diff *diff, unsigned side, FILE *out)
{
    const struct jr_diff_sum none = {0};
    const size_t most = shown(diff, PATHS_SHOWN);
    size_t count = 0, unsure = 0;

    for (size_t i = 0; i < diff->npaths; i++) {
        const struct jr_diff_path *path = &diff->paths[i];
        const struct jr_difference difference =
            side == JR_AFTER ? jr_diff_compare(diff, &none, &path->sum)
                             : jr_diff_compare(diff, &path->sum, &none);

        if (path->side != side)
            continue;
        unsure += !difference.is_sure;
        if (!difference.is_sure || count++ >= most)
            continue;
        if (count == 1)
            fprintf(out, "\n%s Call Paths\n\n",
                    side == JR_AFTER ? "New" : "Vanished");
        fprintf(out, "%8" PRIu64 " ", periods(diff, side, &path->sum));
        put_measure(diff, difference.step, 1, out);
        fputs(" *  ", out);
        put_path(diff, path->node, out);
    }
    if (count > most)
        fprintf(out, "%zu more\n", count - most);
    if (unsure > 0)
        fprintf(out,
                "\n%zu other call paths are in %s alone, maybe by "
                "chance\n",
                unsure, side == JR_AFTER ? "After" : "Before");
}

static void put_side(const struct jr_diff *diff, unsigned side, FILE *out)
{
    const struct jr_model *model = diff->report->model;
    const struct jr_process *first = NULL;
    size_t processes = 0;

    for (size_t i = model->nprocesses; i-- > 0;)
        if (model->processes[i].side == side) {
            first = &model->processes[i];
            processes++;
        }
    fprintf(out, "%-18s ", side == JR_AFTER ? "After" : "Before");
    jr_put_text(out, diff->report->sides[side]);
    fputs(": ", out);
    if (first) {
        jr_put_text(out, jr_base_name(jr_exe_of(first)));
        fprintf(out, ", %zu process%s, ", processes, processes > 1 ? "es" : "");
    }
    fprintf(out,
            "%" PRIu64 " samples, total weight %" PRIu64 " periods, %.3f s\n",
            diff->samples[side], periods(diff, side, &diff->whole[side]),
            diff->whole[side].ns / NS);
}

static void put_head(const struct jr_diff *diff, FILE *out)
{
    const struct jr_report *report = diff->report;
    char *filters = jr_selection_text(report->model);

    fputs("Jprof Difference Report\n\n", out);
    put_side(diff, JR_BEFORE, out);
    put_side(diff, JR_AFTER, out);
    if (report->per)
        fprintf(out, "%-18s time for a unit of work: %g before, %g after\n",
                "Compared", report->units[JR_BEFORE], report->units[JR_AFTER]);
    else
        fprintf(out, "%-18s shares of each side's time\n", "Compared");
    fprintf(out,
            "%-18s * beyond %.1f standard errors of sampling, for %zu "
            "functions compared;\n%-18s what differs from run to run is not in "
            "them\n",
            "Sure", diff->limit, diff->nrows, "");
    if (filters) {
        fprintf(out, "%-18s ", "Filters");
        jr_put_text(out, filters);
        fputc('\n', out);
    }
    for (size_t i = 0; i < report->nnotes; i++) {
        fprintf(out, "%-18s ", "Note");
        jr_put_text(out, report->notes[i]);
        fputc('\n', out);
    }
    free(filters);
}

void jr_write_diff(const struct jr_report *report, FILE *out)
{
    struct jr_diff diff;

    jr_diff_open(&diff, report);
    put_head(&diff, out);
    put_table(&diff, 0, out);
    put_table(&diff, 1, out);
    put_paths(&diff, JR_BEFORE, out);
    put_paths(&diff, JR_AFTER, out);
    jr_diff_close(&diff);
}
