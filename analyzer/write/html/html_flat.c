/* SPDX-License-Identifier: MIT
 *
 * The flat profile in HTML: functions by descending Count.
 * Runs in: analyzer. */
#include <inttypes.h>

#include "html.h"
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

void jr_html_flat(const struct jr_html_part *page)
{
    const struct jr_part *part = page->part;

    fprintf(page->out,
            "<section class=\"flat\" id=\"flat_%zu\">\n<h3>Flat Profile</h3>\n"
            "<p class=\"sum\">Total hit count: %" PRIu64 "</p>\n"
            "<table><thead><tr><th>Count</th><th>%%Total</th>"
            "<th>Function Name</th></tr></thead>\n<tbody>\n",
            page->number, jr_periods(page->report->model, part->weight_ns));
    for (size_t i = 0; i < part->nflat; i++)
        put_row(page, part->flat[i]);
    fputs("</tbody></table>\n</section>\n", page->out);
}
