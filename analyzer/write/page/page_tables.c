/* SPDX-License-Identifier: MIT
 *
 * Writes the plain tables of the page: the heaviest functions, flat and with
 * callers and callees, and the heaviest processes or threads.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>

#include "model/build.h"
#include "model/part_build.h"
#include "model/scope.h"
#include "page.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/figures.h"
#include "write/html/html.h"

/* Rows; with these the tables print on at most 20 pages. */
#define FLAT_SHOWN 60
#define FUNCTIONS_SHOWN 30
#define LINKS_SHOWN 4 /* callers, and as many callees */
#define PARTS_SHOWN 40
#define NAME_SHOWN 300

struct tables {
    const struct jr_report *report;
    const struct jr_part *part;
    FILE *out;
};

static size_t listed(const struct jr_part *part)
{
    return part->nrows < FUNCTIONS_SHOWN ? part->nrows : FUNCTIONS_SHOWN;
}

/* A count in periods and its share of the profile. */
static void put_figures(const struct tables *tables, uint64_t weight_ns)
{
    fprintf(tables->out, "<td>%" PRIu64 "</td><td>%.1f%%</td>",
            jr_periods(tables->report->model, weight_ns),
            jr_percent(weight_ns, tables->part->weight_ns));
}

/* The name of a row's function, as a link where its callers are listed. */
static void put_name(const struct tables *tables, size_t row, int is_head)
{
    const struct jr_function *of =
        &tables->report->model->functions[tables->part->rows[row].function];
    const char *module = jr_shown_module(of);
    int link = !is_head && row < listed(tables->part);

    if (link)
        fprintf(tables->out, "<a href=\"#f0-%zu\">", row);
    jr_html_text(tables->out, of->name, NAME_SHOWN);
    if (link)
        fputs("</a>", tables->out);
    if (of->inlined)
        fputs(JR_INLINED, tables->out);
    if (of->tier)
        fprintf(tables->out, " [%s]", of->tier);
    if (is_head && module[0] != '\0') {
        fputs(" <small>", tables->out);
        jr_put_html(tables->out, module);
        fputs("</small>", tables->out);
    }
}

static void put_flat(const struct tables *tables)
{
    const struct jr_part *part = tables->part;

    fprintf(tables->out,
            "<section id=\"flat_0\"><h2>Flat Profile</h2>\n"
            "<p>Total hit count: %" PRIu64 "</p>\n"
            "<table class=\"flat\"><thead><tr><th>Count (self)</th>"
            "<th>%%Total</th><th>Function Name</th></tr></thead>\n<tbody>\n",
            jr_periods(tables->report->model, part->weight_ns));
    for (size_t i = 0; i < part->nflat && i < FLAT_SHOWN; i++) {
        fputs("<tr>", tables->out);
        put_figures(tables, part->rows[part->flat[i]].self_ns);
        fputs("<td>", tables->out);
        put_name(tables, part->flat[i], 0);
        fputs("</td></tr>\n", tables->out);
    }
    fputs("</tbody></table>\n", tables->out);
    if (part->nflat > FLAT_SHOWN)
        fprintf(tables->out, "<p>%zu more functions have a Count.</p>\n",
                part->nflat - FLAT_SHOWN);
    fputs("</section>\n", tables->out);
}

static void put_links(const struct tables *tables, size_t first, size_t count,
                      size_t of)
{
    for (size_t i = 0; i < count && i < LINKS_SHOWN; i++) {
        const struct jr_link *link = &tables->part->links[first + i];

        fputs("<tr><td></td><td></td><td></td>", tables->out);
        put_figures(tables, link->weight_ns);
        fputs("<td>", tables->out);
        put_name(tables, link->row, 0);
        fputs(link->row == of ? " (self)</td></tr>\n" : "</td></tr>\n",
              tables->out);
    }
    if (count > LINKS_SHOWN)
        fprintf(tables->out,
                "<tr><td colspan=\"5\"></td><td>%zu more</td></tr>\n",
                count - LINKS_SHOWN);
}

static void put_function(const struct tables *tables, size_t at)
{
    const struct jr_row *row = &tables->part->rows[at];

    fprintf(tables->out, "<tbody id=\"f0-%zu\">\n", at);
    put_links(tables, row->callers, row->ncallers, at);
    fprintf(tables->out, "<tr class=\"f\"><th scope=\"row\">[%zu]</th>", at);
    put_figures(tables, row->self_ns);
    put_figures(tables, row->total_ns);
    fputs("<td>", tables->out);
    put_name(tables, at, 1);
    fputs("</td></tr>\n", tables->out);
    put_links(tables, row->callees, row->ncallees, at);
    fputs("</tbody>\n", tables->out);
}

static void put_hierarchical(const struct tables *tables)
{
    const size_t shown = listed(tables->part);

    fputs("<section id=\"hier_0\"><h2>Hierarchical Profile</h2>\n"
          "<p>Callers are above each function, callees below.</p>\n"
          "<table class=\"hier\"><thead><tr><th>index</th>"
          "<th>Count (self)</th><th>%Total</th><th>Hits (total)</th>"
          "<th>%Total</th><th>Function Name</th></tr></thead>\n",
          tables->out);
    for (size_t i = 0; i < shown; i++)
        put_function(tables, i);
    fputs("</table>\n", tables->out);
    if (tables->part->nrows > shown)
        fprintf(tables->out,
                "<p>%zu more functions, at most %" PRIu64 " Hits each.</p>\n",
                tables->part->nrows - shown,
                jr_periods(tables->report->model,
                           tables->part->rows[shown].total_ns));
    fputs("</section>\n", tables->out);
}

static void put_parts(const struct tables *tables)
{
    const struct jr_report *report = tables->report;
    char **titles;
    size_t shown = 0;

    if (report->nparts < 2)
        return;
    titles = jr_part_titles(report);
    fputs("<section><h2>Processes and threads</h2>\n<table><thead><tr>"
          "<th>Count</th><th>%Total</th><th>Name</th></tr></thead>\n<tbody>\n",
          tables->out);
    for (size_t i = 1; i < report->nparts && shown < PARTS_SHOWN; i++) {
        fputs("<tr>", tables->out);
        put_figures(tables, report->parts[i].weight_ns);
        fputs("<td>", tables->out);
        jr_html_text(tables->out, titles[i], NAME_SHOWN);
        fputs("</td></tr>\n", tables->out);
        shown++;
    }
    fputs("</tbody></table>\n", tables->out);
    if (report->nparts - 1 > shown)
        fprintf(tables->out, "<p>%zu more.</p>\n", report->nparts - 1 - shown);
    fputs("</section>\n", tables->out);
    jr_part_titles_free(report, titles);
}

void jr_page_tables(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    const struct jr_scope_key all = {.scope = JR_SCOPE_ALL,
                                     .weight_ns = model->total.weight_ns,
                                     .samples = model->total.samples};
    struct jr_part part;
    struct tables tables = {report, &part, out};

    jr_part_build_for(model, &all, LINKS_SHOWN, &part);
    jr_waits_html(report, JR_WAITS_PAGE, out);
    put_flat(&tables);
    put_hierarchical(&tables);
    put_parts(&tables);
    jr_part_free(&part);
}
