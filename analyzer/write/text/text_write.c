/* SPDX-License-Identifier: MIT
 *
 * The flat and the hierarchical profile as plain text for a terminal.
 * Runs in: analyzer. */
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/build.h"
#include "model/part_build.h"
#include "model/part_flat.h"
#include "write/coverage.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/marks.h"
#include "write/parts.h"
#include "write/waits.h"

#define RULE                                                                   \
    "---------------------------------------------------------------------"    \
    "-----------\n"

static void put_line(FILE *out, const char *label, const char *text)
{
    fprintf(out, "%-18s ", label);
    jr_put_text(out, text);
    fputc('\n', out);
}

static void put_facts(FILE *out, const struct jr_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++)
        put_line(out, facts->items[i].label, facts->items[i].text);
}

static void put_head(const struct jr_report *report, FILE *out)
{
    struct jr_facts about = {0}, quality = {0};
    char *gap;

    jr_facts_about(report, &about);
    jr_facts_quality(report, &quality);
    fputs("Jprof Profile Report\n\n", out);
    put_facts(out, &about);
    fputc('\n', out);
    put_facts(out, &quality);
    for (size_t i = 0; (gap = jr_coverage_gap(report, i)) != NULL; i++) {
        put_line(out, "Not covered", gap);
        free(gap);
    }
    for (size_t i = 0; i < report->nnotes; i++)
        put_line(out, "Note", report->notes[i]);
    jr_facts_free(&about);
    jr_facts_free(&quality);
}

/* One line of the contents.  The parts of a group have an `indent`. */
static void put_entry(const struct jr_report *report, uint64_t weight_ns,
                      const char *indent, const char *title, FILE *out)
{
    fprintf(out, "%8" PRIu64 "  %5.1f%%  %s",
            jr_periods(report->model, weight_ns),
            jr_percent(weight_ns, report->model->total.weight_ns), indent);
    jr_put_text(out, title);
}

static void put_group(const struct jr_report *report,
                      const struct jr_contents *contents,
                      const struct jr_group *group, FILE *out)
{
    if (group->count > 1) {
        put_entry(report, group->weight_ns, "", group->name, out);
        fprintf(out, ": %zu processes\n", group->count);
    }
    for (size_t i = group->first; i < group->first + group->count; i++) {
        const size_t part = contents->parts[i];

        put_entry(report, report->parts[part].weight_ns,
                  group->count > 1 ? "  " : "", contents->titles[part], out);
        fputc('\n', out);
    }
}

/* The list of threads or processes. */
static void put_contents(const struct jr_report *report,
                         const struct jr_contents *contents, FILE *out)
{
    if (report->nparts < 2 && !report->model->filter.by_thread)
        return;
    fprintf(out, "\n%s:\n",
            report->model->filter.by_thread ? "Threads" : "Processes");
    if (report->nparts > 1) {
        put_entry(report, report->parts[0].weight_ns, "", contents->titles[0],
                  out);
        fputc('\n', out);
    }
    for (size_t i = 0; i < contents->ngroups; i++)
        put_group(report, contents, &contents->groups[i], out);
}

/* The tiers of a function: " [TurboFan 120, Sparkplug 3]".  If there are
 * several, each has its Count, or with `hits` its Hits. */
static void put_tiers(const struct jr_report *report,
                      const struct jr_part *part, const struct jr_row *row,
                      int hits, FILE *out)
{
    const struct jr_model *model = report->model;
    const struct jr_part_tier *tiers = part->tiers + row->tiers;
    size_t put = 0;

    for (size_t i = 0; i < row->ntiers; i++) {
        const char *word = model->tiers[tiers[i].tier].word;

        if (!hits && tiers[i].self_ns == 0)
            continue;
        fprintf(out, "%s%s", put++ ? ", " : " [", word ? word : "other");
        if (row->ntiers > 1)
            fprintf(
                out, " %" PRIu64,
                jr_periods(model, hits ? tiers[i].total_ns : tiers[i].self_ns));
    }
    if (put)
        fputc(']', out);
}

static void put_module(const struct jr_report *report, const struct jr_row *row,
                       FILE *out)
{
    const char *module =
        jr_shown_module(&report->model->functions[row->function]);

    if (module[0]) {
        fputs("  (", out);
        jr_put_text(out, module);
        fputc(')', out);
    }
}

static void put_name(const struct jr_report *report, const struct jr_row *row,
                     FILE *out)
{
    const struct jr_function *function =
        &report->model->functions[row->function];

    jr_put_text(out, function->name);
    jr_put_tier(function, out);
    put_module(report, row, out);
}

/* The name of the function of a line, with all its tiers. */
static void put_title(const struct jr_report *report,
                      const struct jr_part *part, const struct jr_row *row,
                      int hits, FILE *out)
{
    jr_put_text(out, report->model->functions[row->function].name);
    if (report->model->functions[row->function].inlined)
        fputs(JR_INLINED, out);
    put_tiers(report, part, row, hits, out);
    put_module(report, row, out);
}

/* The lines of the flat profile, and one line for the functions left out. */
static void put_rows(const struct jr_report *report, const struct jr_part *part,
                     FILE *out)
{
    struct jr_rest rest = jr_part_rest(part, 1);

    fputs("Count (self)  %Total  Function Name\n", out);
    for (size_t i = 0; i < part->nflat; i++) {
        const struct jr_row *row = &part->rows[part->flat[i]];

        if (part->flat[i] >= part->nshown)
            continue;
        fprintf(out, "%12" PRIu64 "  %5.1f%%  ",
                jr_periods(report->model, row->self_ns),
                jr_percent(row->self_ns, part->weight_ns));
        put_title(report, part, row, 0, out);
        fputc('\n', out);
    }
    if (rest.count > 0)
        fprintf(out, "%12" PRIu64 "  %5.1f%%  %zu more function%s\n",
                jr_periods(report->model, rest.self_ns),
                jr_percent(rest.self_ns, part->weight_ns), rest.count,
                rest.count > 1 ? "s" : "");
}

static void put_flat(const struct jr_report *report, const struct jr_part *part,
                     FILE *out)
{
    fprintf(out, "\nFlat Profile\n\nTotal hit count: %" PRIu64 "\n",
            jr_periods(report->model, part->weight_ns));
    put_rows(report, part, out);
}

/* The callers or callees of the row at `of`, and one line for those left
 * out. */
static void put_links(const struct jr_report *report,
                      const struct jr_part *part, size_t of, int callees,
                      FILE *out)
{
    const struct jr_row *row = &part->rows[of];
    const struct jr_link *links =
        part->links + (callees ? row->callees : row->callers);
    size_t count = callees ? row->ncallees : row->ncallers, more = 0;
    uint64_t rest = 0;

    for (size_t i = 0; i < count; i++) {
        if (!jr_part_lists(part, row, &links[i])) {
            more++;
            rest = jr_add(rest, links[i].weight_ns);
            continue;
        }
        fprintf(out, "%24s%8" PRIu64 " (%5.1f%%)    ", "",
                jr_periods(report->model, links[i].weight_ns),
                jr_percent(links[i].weight_ns, part->weight_ns));
        put_name(report, &part->rows[links[i].row], out);
        fputs(links[i].row == of ? " (self)\n" : "\n", out);
    }
    if (more > 0)
        fprintf(out, "%24s%8" PRIu64 " (%5.1f%%)    %zu more\n", "",
                jr_periods(report->model, rest),
                jr_percent(rest, part->weight_ns), more);
}

static void put_function(const struct jr_report *report,
                         const struct jr_part *part, size_t at, FILE *out)
{
    const struct jr_row *row = &part->rows[at];
    char index[32];

    fputs(RULE, out);
    put_links(report, part, at, 0, out);
    snprintf(index, sizeof(index), "[%zu]", at);
    fprintf(out, "%6s %7" PRIu64 " (%5.1f%%)%8" PRIu64 " (%5.1f%%)  ", index,
            jr_periods(report->model, row->self_ns),
            jr_percent(row->self_ns, part->weight_ns),
            jr_periods(report->model, row->total_ns),
            jr_percent(row->total_ns, part->weight_ns));
    put_title(report, part, row, 1, out);
    fputc('\n', out);
    put_links(report, part, at, 1, out);
}

static void put_hierarchical(const struct jr_report *report,
                             const struct jr_part *part, FILE *out)
{
    struct jr_rest rest = jr_part_rest(part, 0);

    fputs("\nHierarchical Profile\n\n", out);
    fputs(" index     Count (self)     Hits (total)  Function Name\n", out);
    for (size_t i = 0; i < part->nshown; i++)
        put_function(report, part, i, out);
    if (rest.count > 0)
        fprintf(out,
                RULE "%14" PRIu64 " (%5.1f%%)%18s%zu more functions, at most "
                     "%" PRIu64 " Hits each\n",
                jr_periods(report->model, rest.self_ns),
                jr_percent(rest.self_ns, part->weight_ns), "", rest.count,
                jr_periods(report->model, rest.most_ns));
}

/* A process or thread when the total is shown too: its share and its heaviest
 * functions. */
static void put_short(const struct jr_report *report,
                      const struct jr_part *part, FILE *out)
{
    fprintf(out, "Count %" PRIu64 ", %.1f%% of all; %" PRIu64 " sample%s\n",
            jr_periods(report->model, part->weight_ns),
            jr_percent(part->weight_ns, report->model->total.weight_ns),
            part->samples, part->samples == 1 ? "" : "s");
    if (part->nrows == 0)
        return;
    fputc('\n', out);
    put_rows(report, part, out);
}

static void put_part(const struct jr_report *report,
                     const struct jr_contents *contents, size_t number,
                     FILE *out)
{
    struct jr_part part;

    jr_part_open(report, number, contents->most, JR_LINKS_ALL, &part);
    if (report->nparts > 1) {
        fputs("\n" RULE, out);
        jr_put_text(out, contents->titles[number]);
        fputs("\n" RULE, out);
    }
    if (jr_part_is_short(report, number)) {
        put_short(report, &part, out);
    } else {
        put_flat(report, &part, out);
        put_hierarchical(report, &part, out);
    }
    jr_part_free(&part);
}

void jr_write_text(const struct jr_report *report, FILE *out)
{
    struct jr_contents contents;

    jr_contents_open(report, &contents);
    put_head(report, out);
    jr_waits_text(report, out);
    jr_marks_text(report, out);
    put_contents(report, &contents, out);
    if (report->nparts > 1)
        put_part(report, &contents, 0, out);
    for (size_t i = 0; i < contents.nparts; i++)
        put_part(report, &contents, contents.parts[i], out);
    jr_contents_close(report, &contents);
}
