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

/* From these percentages on a fault is worth a word, and makes the profile
 * doubtful. */
#define WORD_PERCENT 1.0
#define DOUBT_PERCENT 10.0

/* A fault of the data, as a share of what it is a fault of. */
struct fault {
    double percent;
    const char *what;
};

static double lost_percent(const struct jr_stats *total)
{
    uint64_t lost = jr_lost(total);

    return jr_percent(lost, jr_add(total->samples, lost));
}

/* The worst fault there is. */
static struct fault worst(const struct jr_report *report)
{
    const struct jr_stats *total = &report->model->total;
    const struct fault faults[] = {
        {lost_percent(total), "of the samples lost"},
        {jr_percent(jr_incomplete(total), total->samples),
         "of the stacks incomplete"},
        {jr_percent(total->unnamed_frames, total->frames),
         "of the frames unnamed"},
        {report->merged && report->cover && report->cover->cpu_ns > 0
             ? 100 - jr_coverage_percent(report->cover)
             : 0,
         "of the CPU time not covered"},
        {jr_percent(total->jit_mismatched, total->samples),
         "of the samples in changed code"},
    };
    struct fault found = faults[0];

    for (size_t i = 1; i < sizeof(faults) / sizeof(*faults); i++)
        if (faults[i].percent > found.percent)
            found = faults[i];
    return found;
}

static void put_badge(const struct jr_report *report, FILE *out)
{
    struct fault fault = worst(report);
    int level = report->changed > 0 || fault.percent >= DOUBT_PERCENT ? 2
                : fault.percent >= WORD_PERCENT                       ? 1
                                                                      : 0;
    static const char *const words[] = {"Sound", "Mostly sound", "Doubtful"};

    fprintf(out, "<summary class=\"badge l%d\"><b>%s</b>: ", level,
            words[level]);
    if (report->changed > 0)
        fprintf(out, "%zu changed binar%s", report->changed,
                report->changed == 1 ? "y" : "ies");
    else if (fault.percent < 0.05)
        fputs("nothing lost, nothing unnamed", out);
    else
        fprintf(out, "%.1f%% %s", fault.percent, fault.what);
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
