/* SPDX-License-Identifier: MIT
 *
 * Writes the hierarchical profile in HTML: functions by descending Hits, each
 * between its callers and its callees.
 * Runs in: analyzer. */
#include <inttypes.h>

#include "html.h"
#include "model/build.h"
#include "model/part_flat.h"
#include "write/figures.h"

/* Callers or callees shown for each function; the others share one line, which
 * tells the heaviest of them.  A part with very many calls shows fewer, to keep
 * the page small. */
#define LINKS_SHOWN (JR_HTML_LINKS - 1)
#define LINKS_SHOWN_OF_MANY 15
#define MANY_CALLS 100000

static void put_link(const struct jr_html_part *page,
                     const struct jr_link *link, size_t of)
{
    fprintf(page->out, "<p><b>%" PRIu64 "</b><i>%.1f%%</i><span>",
            jr_periods(page->report->model, link->weight_ns),
            jr_percent(link->weight_ns, page->part->weight_ns));
    jr_html_name(page, link->row);
    fputs(link->row == of ? " (self)</span></p>\n" : "</span></p>\n",
          page->out);
}

/* The most callers or callees listed for one function. */
static size_t most_links(const struct jr_html_part *page)
{
    return page->part->nlinks / 2 > MANY_CALLS ? LINKS_SHOWN_OF_MANY
                                               : LINKS_SHOWN;
}

static void put_links(const struct jr_html_part *page,
                      const struct jr_link *links, size_t count, size_t of)
{
    const struct jr_row *row = &page->part->rows[of];
    const char *what =
        links < page->part->links + row->callees ? "callers" : "callees";
    uint64_t rest = 0, heaviest = 0;
    size_t most = most_links(page), shown = 0;

    for (size_t i = 0; i < count; i++) {
        if (shown < most && jr_part_lists(page->part, row, &links[i])) {
            put_link(page, &links[i], of);
            shown++;
            continue;
        }
        if (rest == 0)
            heaviest = links[i].weight_ns;
        rest = jr_add(rest, links[i].weight_ns);
    }
    if (shown == count)
        return;
    fprintf(page->out,
            "<p class=\"more\"><b>%" PRIu64 "</b><i>%.1f%%</i><span>"
            "%zu more %s, at most %" PRIu64 " each</span></p>\n",
            jr_periods(page->report->model, rest),
            jr_percent(rest, page->part->weight_ns), count - shown, what,
            jr_periods(page->report->model, heaviest));
}

static void put_function(const struct jr_html_part *page, size_t at)
{
    const struct jr_part *part = page->part;
    const struct jr_row *row = &part->rows[at];
    const struct jr_model *model = page->report->model;
    double count = jr_percent(row->self_ns, part->weight_ns);
    double hits = jr_percent(row->total_ns, part->weight_ns);

    fprintf(page->out, "<article id=\"f%zu-%zu\">\n", page->number, at);
    put_links(page, part->links + row->callers, row->ncallers, at);
    fprintf(page->out,
            "<h4 style=\"--w:%.4f\"><a href=\"#f%zu-%zu\">[%zu]</a>"
            "<b>%" PRIu64 "</b><i>%.1f%%</i>"
            "<b>%" PRIu64 "</b><i>%.1f%%</i>",
            hits / 100, page->number, at, at, jr_periods(model, row->self_ns),
            count, jr_periods(model, row->total_ns), hits);
    jr_html_title(page, at, 1);
    fputs("</h4>\n", page->out);
    put_links(page, part->links + row->callees, row->ncallees, at);
    fputs("</article>\n", page->out);
}

/* One line for the functions that are left out. */
static void put_rest(const struct jr_html_part *page)
{
    const struct jr_model *model = page->report->model;
    struct jr_rest rest = jr_part_rest(page->part, 0);

    if (rest.count > 0)
        fprintf(page->out,
                "<p class=\"rest\">%zu more functions, at most %" PRIu64
                " Hits each; Count %" PRIu64 ", %.1f%%</p>\n",
                rest.count, jr_periods(model, rest.most_ns),
                jr_periods(model, rest.self_ns),
                jr_percent(rest.self_ns, page->part->weight_ns));
}

void jr_html_hier(const struct jr_html_part *page)
{
    fprintf(page->out,
            "<section class=\"hier\" id=\"hier_%zu\">\n"
            "<h3>Hierarchical Profile</h3>\n"
            "<p class=\"sum\">Callers are above each function, callees "
            "below.</p>\n"
            "<div class=\"cols\"><span>index</span><span>Count (self)</span>"
            "<span>Hits (total)</span><span>Function Name</span></div>\n",
            page->number);
    for (size_t i = 0; i < page->part->nshown; i++)
        put_function(page, i);
    put_rest(page);
    fputs("</section>\n", page->out);
}
