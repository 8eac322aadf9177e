/* SPDX-License-Identifier: MIT
 *
 * Writes the flat profile in HTML: functions by descending Count.
 * Runs in: analyzer. */
#include <inttypes.h>

#include "html.h"
#include "model/build.h"
#include "model/part_flat.h"
#include "write/escape.h"
#include "write/figures.h"

static void put_row(const struct jr_html_part *page, size_t row)
{
    const struct jr_row *of = &page->part->rows[row];
    double share = jr_percent(of->self_ns, page->part->weight_ns);
    uint64_t count = jr_periods(page->report->model, of->self_ns);

    fprintf(page->out,
            "<tr><td>%" PRIu64 "</td><td style=\"--w:%.4f\"><i>%.1f%%</i></td>"
            "<td>",
            count, share / 100, share);
    jr_html_title(page, row, 0);
    fputs("</td></tr>\n", page->out);
}

/* The functions shown, and one line for the others.  The script sorts only the
 * former. */
static void put_rows(const struct jr_html_part *page)
{
    const struct jr_part *part = page->part;
    struct jr_rest rest = jr_part_rest(part, 1);
    double share = jr_percent(rest.self_ns, part->weight_ns);

    fputs("<tbody>\n", page->out);
    for (size_t i = 0; i < part->nflat; i++)
        if (part->flat[i] < part->nshown)
            put_row(page, part->flat[i]);
    fputs("</tbody>", page->out);
    if (rest.count > 0)
        fprintf(page->out,
                "<tfoot>\n<tr><td>%" PRIu64 "</td><td style=\"--w:%.4f\">"
                "<i>%.1f%%</i></td><td>%zu more function%s</td></tr>\n"
                "</tfoot>",
                jr_periods(page->report->model, rest.self_ns), share / 100,
                share, rest.count, rest.count > 1 ? "s" : "");
    fputs("</table>\n", page->out);
}

void jr_html_flat(const struct jr_html_part *page)
{
    fprintf(page->out,
            "<section class=\"flat\" id=\"flat_%zu\">\n<h3>Flat Profile</h3>\n"
            "<p class=\"sum\">Total hit count: %" PRIu64 "</p>\n"
            "<table><thead><tr><th>Count (self)</th><th>%%Total</th>"
            "<th>Function Name</th></tr></thead>\n",
            page->number,
            jr_periods(page->report->model, page->part->weight_ns));
    put_rows(page);
    fputs("</section>\n", page->out);
}

void jr_html_short(const struct jr_html_part *page, const char *title)
{
    const struct jr_part *part = page->part;
    const struct jr_model *model = page->report->model;

    fprintf(page->out, "<section class=\"short\" id=\"part_%zu\">\n<h3>",
            page->number);
    jr_put_html(page->out, title);
    fprintf(page->out,
            "</h3>\n<p class=\"sum\">Count %" PRIu64 ", %.1f%% of all; "
            "%" PRIu64 " sample%s</p>\n",
            jr_periods(model, part->weight_ns),
            jr_percent(part->weight_ns, model->total.weight_ns), part->samples,
            part->samples == 1 ? "" : "s");
    if (part->nrows > 0) {
        fputs("<table>", page->out);
        put_rows(page);
    }
    fputs("</section>\n", page->out);
}
