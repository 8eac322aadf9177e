/* SPDX-License-Identifier: MIT
 *
 * Writes annotated machine code in HTML: for the hottest JIT functions, and
 * those that --annotate names, each
 * piece of code with the weight of its instructions and its source lines.  In
 * long code, instructions far from a sampled one are left out.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "html.h"
#include "model/build.h"
#include "write/annotate.h"
#include "write/escape.h"
#include "write/figures.h"

#define FUNCTIONS_SHOWN 16
#define VERSIONS_SHOWN 6
#define FILE_SHOWN 400

static const struct jr_asm_limits limits = {96, 6, 400, 400, 1};

/* The data of the sink's functions. */
struct page {
    const struct jr_report *report;
    uint64_t whole_ns; /* of the function */
    uint64_t most_ns;  /* of one address */
    uint64_t start;    /* of the code */
    FILE *out;
};

uint32_t *jr_html_code_functions(const struct jr_report *report, size_t *count)
{
    struct jr_codes *codes = jr_codes_new(report->model);
    uint32_t *functions = jr_annotate_functions(
        report, codes, (struct jr_annotate_choice){FUNCTIONS_SHOWN, 1}, count);

    jr_codes_free(codes);
    return functions;
}

static void put_functions(void *data, const struct jr_frames *frames)
{
    struct page *page = data;

    fputs("<tr class=\"s\"><td></td><td></td><td colspan=\"2\">", page->out);
    for (size_t i = 0; i < frames->count; i++) {
        fputs(i ? ", in " : "", page->out);
        jr_html_text(page->out, frames->items[i].name, FILE_SHOWN);
        fputs(frames->items[i].inlined ? JR_INLINED : "", page->out);
    }
    fputs("</td></tr>\n", page->out);
}

static void put_source(void *data, const char *file, uint32_t line,
                       uint32_t column, const char *text)
{
    struct page *page = data;

    fputs("<tr class=\"s\"><td></td><td></td><td colspan=\"2\"><span title=\"",
          page->out);
    jr_html_text(page->out, file, FILE_SHOWN);
    fputs("\">", page->out);
    jr_html_text(page->out, jr_base_name(file), FILE_SHOWN);
    fprintf(page->out, ":%" PRIu32, line);
    if (column)
        fprintf(page->out, ":%" PRIu32, column);
    fputs("</span>", page->out);
    if (text) {
        fputs(" <code>", page->out);
        jr_put_html(page->out, text);
        fputs("</code>", page->out);
    }
    fputs("</td></tr>\n", page->out);
}

static void put_instruction(void *data, uint64_t address, const char *text,
                            uint64_t weight_ns)
{
    struct page *page = data;

    if (weight_ns)
        fprintf(page->out,
                "<tr class=\"h\" style=\"--w:%.3f\"><td>%" PRIu64
                "</td><td>%.1f%%</td>",
                page->most_ns ? (double)weight_ns / (double)page->most_ns : 0.0,
                jr_periods(page->report->model, weight_ns),
                jr_percent(weight_ns, page->whole_ns));
    else
        fputs("<tr><td></td><td></td>", page->out);
    fprintf(page->out, "<td>+%" PRIx64 "</td><td>", address - page->start);
    jr_put_html(page->out, text);
    fputs("</td></tr>\n", page->out);
}

static void put_gap(void *data, size_t count)
{
    struct page *page = data;

    fprintf(page->out,
            "<tr class=\"g\"><td></td><td></td><td colspan=\"2\">"
            "%zu instruction%s</td></tr>\n",
            count, count > 1 ? "s" : "");
}

/* The heaviest address of a function, in any of its pieces. */
static uint64_t heaviest(const struct jr_code_view *view)
{
    uint64_t most = 0;

    for (size_t i = 0; i < view->nhits; i++)
        if (view->hits[i].weight_ns > most)
            most = view->hits[i].weight_ns;
    return most;
}

/* What is listed of a function. */
struct listed {
    const struct jr_function *function;
    const struct jr_code_version *version;
    struct jr_listings *listings;
    int is_open;
};

static void put_version(struct page *page, const struct listed *listed)
{
    const struct jr_code_version *version = listed->version;
    const struct jr_model *model = page->report->model;
    const struct jr_tier *tier = &model->tiers[version->tier];
    const struct jr_asm_sink sink = {put_functions, put_source, put_instruction,
                                     put_gap,       page,       NULL};
    const struct jr_asm_job job = {version, listed->function,
                                   jr_annotate_machine(page->report, version),
                                   listed->listings};
    char *place = jr_annotate_place(page->report, version);
    struct jr_asm_limits shown = limits;
    const char *lack;

    /* Without source lines, a list of bare addresses is of no use. */
    if (version->code.jit.nlines == 0)
        shown.addresses = 0;
    page->start = version->code.start;
    fprintf(page->out, "<details%s><summary>", listed->is_open ? " open" : "");
    if (tier->word)
        fprintf(page->out, "<em>%s</em> ", tier->word);
    fprintf(page->out, "<b>%" PRIu64 "</b> <i>%.1f%%</i> <small>",
            jr_periods(model, version->weight_ns),
            jr_percent(version->weight_ns, page->whole_ns));
    jr_put_html(page->out, place);
    fputs("</small></summary>\n<div><table>\n", page->out);
    lack = jr_annotate_lack(jr_asm_list(&job, &shown, &sink));
    fputs("</table></div>\n", page->out);
    if (lack)
        fprintf(page->out, "<p>%s</p>\n", lack);
    fputs("</details>\n", page->out);
    free(place);
}

static void put_function(struct page *page, const struct jr_codes *codes,
                         uint32_t function, struct jr_listings *listings)
{
    const struct jr_model *model = page->report->model;
    const struct jr_function *of = &model->functions[function];
    struct jr_code_view view;
    size_t shown;

    jr_code_build(codes, function, &view);
    page->whole_ns = view.weight_ns;
    page->most_ns = heaviest(&view);
    fprintf(page->out, "<section id=\"c%" PRIu32 "\"><h4", function);
    if (of->raw) {
        fputs(" title=\"", page->out);
        jr_html_text(page->out, of->raw, FILE_SHOWN);
        fputs("\"", page->out);
    }
    fputs("><span class=\"k j\">", page->out);
    jr_html_text(page->out, of->name, FILE_SHOWN);
    fprintf(page->out,
            "</span></h4>\n<p class=\"sum\">Count %" PRIu64
            ", %.1f%% of the profile, in %zu piece%s of code.</p>\n",
            jr_periods(model, view.weight_ns),
            jr_percent(view.weight_ns, model->total.weight_ns), view.nversions,
            view.nversions == 1 ? "" : "s");
    shown = view.nversions < VERSIONS_SHOWN ? view.nversions : VERSIONS_SHOWN;
    for (size_t i = 0; i < shown; i++)
        put_version(page,
                    &(struct listed){of, &view.versions[i], listings, i == 0});
    if (shown < view.nversions)
        fprintf(page->out,
                "<p class=\"sum\">%zu more pieces of code, at most %" PRIu64
                " each.</p>\n",
                view.nversions - shown,
                jr_periods(model, view.versions[shown].weight_ns));
    fputs("</section>\n", page->out);
    jr_code_free(&view);
}

void jr_html_code(const struct jr_report *report, const uint32_t *functions,
                  size_t count, FILE *out)
{
    struct jr_listings *listings;
    struct jr_codes *codes;
    struct page page = {.report = report, .out = out};

    if (count == 0)
        return;
    codes = jr_codes_new(report->model);
    listings = jr_listings_new(&report->places);
    fputs("<section class=\"code\" id=\"code\">\n"
          "<div class=\"bar\"><h2>Machine code</h2><nav>"
          "<a href=\"#top\">top</a></nav></div>\n"
          "<p class=\"sum\">The hottest JIT functions, with the Count (self) "
          "of each instruction. Percentages are of the function.</p>\n",
          out);
    for (size_t i = 0; i < count; i++)
        put_function(&page, codes, functions[i], listings);
    fputs("</section>\n", out);
    jr_codes_free(codes);
    jr_listings_free(listings);
}
