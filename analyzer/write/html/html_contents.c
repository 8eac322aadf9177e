/* SPDX-License-Identifier: MIT
 *
 * The contents of the HTML report: threads, or processes by program and role,
 * each with its share.
 * Runs in: analyzer. */
#include <inttypes.h>

#include "html.h"
#include "model/build.h"
#include "write/escape.h"
#include "write/figures.h"

/* Groups are open at first if there are at most so many parts in all. */
#define OPEN_AT_MOST 40

static void put_figures(const struct jr_report *report, uint64_t weight_ns,
                        FILE *out)
{
    fprintf(out, "<b>%" PRIu64 "</b><i>%.1f%%</i>",
            jr_periods(report->model, weight_ns),
            jr_percent(weight_ns, report->model->total.weight_ns));
}

/* The share as the width of a bar. */
static void put_width(const struct jr_report *report, uint64_t weight_ns,
                      FILE *out)
{
    fprintf(out, " style=\"--w:%.4f\">",
            jr_percent(weight_ns, report->model->total.weight_ns) / 100);
}

static void put_entry(const struct jr_report *report,
                      const struct jr_contents *contents, size_t part,
                      FILE *out)
{
    const uint64_t weight_ns = report->parts[part].weight_ns;

    fputs("<li", out);
    put_width(report, weight_ns, out);
    put_figures(report, weight_ns, out);
    fprintf(out, "<a href=\"#part_%zu\">", part);
    jr_put_html(out, contents->titles[part]);
    fputs("</a></li>\n", out);
}

static void put_group(const struct jr_report *report,
                      const struct jr_contents *contents,
                      const struct jr_group *group, FILE *out)
{
    if (group->count == 1) {
        put_entry(report, contents, contents->parts[group->first], out);
        return;
    }
    fprintf(out, "<li class=\"g\"><details%s><summary",
            contents->nparts <= OPEN_AT_MOST ? " open" : "");
    put_width(report, group->weight_ns, out);
    put_figures(report, group->weight_ns, out);
    fputs("<span>", out);
    jr_put_html(out, group->name);
    fprintf(out, ": %zu processes</span></summary>\n<ol>\n", group->count);
    for (size_t i = group->first; i < group->first + group->count; i++)
        put_entry(report, contents, contents->parts[i], out);
    fputs("</ol></details></li>\n", out);
}

void jr_html_contents(const struct jr_report *report,
                      const struct jr_contents *contents, FILE *out)
{
    int threads = report->model->filter.by_thread;

    if (report->nparts < 2 && !threads)
        return;
    fprintf(out, "<section class=\"list\"><h2>%s</h2>\n<ol>\n",
            threads ? "Threads" : "Processes");
    if (report->nparts > 1)
        put_entry(report, contents, 0, out);
    for (size_t i = 0; i < contents->ngroups; i++)
        put_group(report, contents, &contents->groups[i], out);
    fputs("</ol></section>\n", out);
}
