/* SPDX-License-Identifier: MIT
 *
 * Writes the page's head: the run in a line, and what the profile is worth as
 * a badge with the details behind it.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "page.h"
#include "write/coverage.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/figures.h"
#include "write/html/html.h"
#include "write/program.h"

#define COMMAND_SHOWN 2000

/* A fault of the data as a share of what it is a fault of, and the percentages
 * from which on it is worth a word, and makes the profile doubtful.  Where a
 * share says nothing, as code without a name that a named function calls, the
 * fault is not here. */
struct fault {
    double percent, word, doubt;
    const char *what;
};

#define NEVER 101.0 /* percent */

/* A profile of CPU time with fewer samples than these is worth a word, and is
 * doubtful: the share of a function that has half of them is off by 5 and by 11
 * percent (a standard error, the root of p(1-p)/n). */
#define WORD_SAMPLES 100
#define DOUBT_SAMPLES 20

static double lost_percent(const struct jr_stats *total)
{
    uint64_t lost = jr_lost(total);

    return jr_percent(lost, jr_add(total->samples, lost));
}

static const char not_covered[] = "of the CPU time not covered";

/* CPU time that no sample covers. */
static double uncovered(const struct jr_report *report)
{
    const struct jr_cover *cover = report->cover;

    if (!report->merged || cover == NULL || cover->cpu_ns == 0)
        return 0;
    return 100 - jr_coverage_percent(cover);
}

/* The same without what is spent before and after profiles, as threads begin
 * and end, and in processes of less than a period, which the details say; as a
 * share of the time that the profile is of: one of real time is mostly of
 * waiting. */
static double missing(const struct jr_report *report)
{
    const struct jr_cover *cover = report->cover;
    const struct jr_stats *total = &report->model->total;
    double known, waits;

    if (uncovered(report) <= 0)
        return 0;
    known = jr_percent(jr_add(jr_add(cover->before_ns, cover->after_ns),
                              jr_add(cover->edges_ns, cover->rest_ns)),
                       cover->cpu_ns);
    waits = (double)jr_add(total->blocked_ns, total->ready_ns);
    return (uncovered(report) - known) * (double)cover->cpu_ns /
           ((double)cover->cpu_ns + waits);
}

/* 0: not worth a word; 1: worth one; 2: makes the profile doubtful. */
static int level_of(const struct fault *fault)
{
    return fault->percent >= fault->doubt ? 2 : fault->percent >= fault->word;
}

/* The fault of the highest level, of several the one furthest above its
 * limit. */
static struct fault worst(const struct jr_report *report)
{
    const struct jr_stats *total = &report->model->total;
    const uint64_t truncated = total->reasons[JP_REASON_DEPTH];
    const uint64_t after = jr_add(total->weight_ns, total->open_ns);
    const struct fault faults[] = {
        {lost_percent(total), 1, 10, "of the samples lost"},
        {jr_percent(jr_incomplete(total) - truncated, total->samples), 1, 10,
         "of the stacks incomplete"},
        {jr_percent(truncated, total->samples), 1, 50, "of the stacks cut"},
        {jr_percent(total->nameless_ns, total->weight_ns), 2, 20,
         "of the time in code without names"},
        {jr_percent(total->bare_ns, total->weight_ns), 50, NEVER,
         "of the time in code without names"},
        {missing(report), 2, 10, not_covered},
        {report->model->times.nthreads > 0 ? 0 : uncovered(report), 5, NEVER,
         not_covered},
        {jr_percent(total->open_ns, after), 2, 25,
         "of the time after the last samples"},
    };
    struct fault found = faults[0];

    for (size_t i = 1; i < sizeof(faults) / sizeof(*faults); i++) {
        const int step = level_of(&faults[i]) - level_of(&found);

        if (step > 0 || (step == 0 && faults[i].percent / faults[i].word >
                                          found.percent / found.word))
            found = faults[i];
    }
    return found;
}

/* How few samples are: of real time, errors stand beside the numbers, and of
 * other tools' profiles it is not known how many there were. */
static int few_level(const struct jr_model *model)
{
    const uint64_t samples = model->total.samples;

    if (model->foreign || model->times.nthreads > 0)
        return 0;
    return samples < DOUBT_SAMPLES ? 2 : samples < WORD_SAMPLES;
}

static int most(int one, int other)
{
    return one > other ? one : other;
}

/* Code of a binary that has changed has no names: how much that is, is a fault
 * of its own. */
static void put_badge(const struct jr_report *report, FILE *out)
{
    struct fault fault = worst(report);
    const int worst_level = level_of(&fault), few = few_level(report->model);
    const int changed = report->changed > 0;
    const int level = most(most(worst_level, few), changed);
    static const char *const words[] = {"Sound", "Mostly sound", "Doubtful"};

    fprintf(out, "<summary class=\"badge l%d\"><b>%s</b>: ", level,
            words[level]);
    if (few > worst_level)
        fprintf(out, "only %" PRIu64 " sample%s", report->model->total.samples,
                report->model->total.samples == 1 ? "" : "s");
    else if (changed > worst_level)
        fprintf(out, "%zu changed binar%s", report->changed,
                report->changed == 1 ? "y" : "ies");
    else if (fault.percent < 0.05)
        fputs("nothing lost", out);
    else
        fprintf(out, "%.1f%% %s",
                fault.what == not_covered ? uncovered(report) : fault.percent,
                fault.what);
    fputs("</summary>\n", out);
}

static void put_facts(FILE *out, const char *title,
                      const struct jr_facts *facts)
{
    fprintf(out, "<section><h2>%s</h2><dl>\n", title);
    for (size_t i = 0; i < facts->count; i++) {
        fprintf(out, "<div><dt>%s</dt><dd>", facts->items[i].label);
        jr_html_text(out, facts->items[i].text, COMMAND_SHOWN);
        fputs("</dd></div>\n", out);
    }
    fputs("</dl></section>\n", out);
}

static void put_count(FILE *out, uint64_t count, const char *one,
                      const char *more)
{
    fprintf(out, "<span><b>%" PRIu64 "</b> %s</span>\n", count,
            count == 1 ? one : more);
}

static void put_time(FILE *out, uint64_t ns, const char *what)
{
    char *text = jr_duration(ns);

    fprintf(out, "<span><b>%s</b> %s</span>\n", text, what);
    free(text);
}

static void put_line(const struct jr_report *report, FILE *out)
{
    const struct jr_stats *total = &report->model->total;

    fputs("<p class=\"run\">", out);
    put_time(out, total->cpu_ns, "CPU");
    if (total->blocked_ns)
        put_time(out, total->blocked_ns, "blocked");
    put_time(out, total->wall_ns, "wall");
    put_count(out, total->samples, "sample", "samples");
    put_count(out, report->model->nprocesses, "process", "processes");
    put_count(out, total->threads, "thread", "threads");
    fputs("</p>\n", out);
}

void jr_page_head(const struct jr_report *report, FILE *out)
{
    char *name = jr_program_name(report);
    char *command = jr_program_command(report);
    struct jr_facts about = {0}, quality = {0};

    jr_facts_about(report, &about);
    jr_facts_quality(report, &quality);
    fputs("<header>\n<h1>", out);
    if (report->model->compares) {
        jr_html_text(out, report->sides[JR_BEFORE], COMMAND_SHOWN);
        fputs(" \xe2\x86\x92 ", out);
        jr_html_text(out, report->sides[JR_AFTER], COMMAND_SHOWN);
    } else {
        jr_html_text(out, command ? command : name, COMMAND_SHOWN);
    }
    fputs("</h1>\n", out);
    put_line(report, out);
    fputs("<details class=\"worth\">", out);
    put_badge(report, out);
    fputs("<div class=\"facts\">\n", out);
    put_facts(out, "Profiled run", &about);
    put_facts(out, "Data quality", &quality);
    jr_html_notes(report, out);
    fputs("</div></details>\n</header>\n", out);
    jr_facts_free(&about);
    jr_facts_free(&quality);
    free(command);
    free(name);
}
