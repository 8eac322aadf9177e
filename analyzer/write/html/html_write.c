/* SPDX-License-Identifier: MIT
 *
 * Writes the HTML report: one self-contained file that is readable without its
 * script.
 * Runs in: analyzer. */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "jp_limits.h"
#include "model/part_build.h"
#include "write/escape.h"

void jr_html_nothing(const struct jr_report *report, FILE *out)
{
    const struct jr_stats *total = &report->model->total;

    fputs("<p class=\"empty\">No samples to show. ", out);
    if (total->filtered)
        fprintf(out, "The filters removed all %" PRIu64 " samples.",
                total->filtered);
    else if (total->sections == 0)
        fputs("The log does not have the selected section.", out);
    else if (report->model->filter.from_ns > 0 || report->model->filter.has_to)
        fputs("There are none between --from and --to.", out);
    else
        fputs("The program may have used no CPU time while it was profiled, "
              "or the selected thread has no samples.",
              out);
    fputs("</p>\n", out);
}

static void put_whole_part(const struct jr_html_part *page, const char *title)
{
    const struct jr_report *report = page->report;
    FILE *out = page->out;

    fprintf(out,
            "<section class=\"part\" id=\"part_%zu\">\n"
            "<div class=\"bar\"><h2>",
            page->number);
    jr_put_html(out, title);
    fprintf(out,
            "</h2><nav><a href=\"#flat_%zu\">flat</a> <span>|</span> "
            "<a href=\"#hier_%zu\">hierarchical</a>%s</nav></div>\n",
            page->number, page->number,
            report->nparts > 1 ? " <span>|</span> <a href=\"#top\">top</a>"
                               : "");
    if (page->part->nrows == 0)
        jr_html_nothing(report, out);
    jr_html_flat(page);
    jr_html_hier(page);
    fputs("</section>\n", out);
}

/* The data that all parts of the page share. */
struct writing {
    const struct jr_report *report;
    struct jr_contents contents;
    uint8_t *has_code;
    uint32_t *rows; /* of the total, as in jr_html_part */
    FILE *out;
};

static void put_part(struct writing *writing, size_t number)
{
    const struct jr_report *report = writing->report;
    const char *title = writing->contents.titles[number];
    struct jr_part part;
    struct jr_html_part page = {.report = report,
                                .part = &part,
                                .number = number,
                                .out = writing->out,
                                .has_code = writing->has_code};

    jr_part_open(report, number, writing->contents.most, JR_HTML_LINKS, &part);
    if (jr_part_is_short(report, number)) {
        page.rows = writing->rows;
        jr_html_short(&page, title);
    } else {
        put_whole_part(&page, title);
    }
    for (uint32_t i = 0; i < part.nshown && number == 0; i++)
        writing->rows[part.rows[i].function] = i + 1;
    jr_part_free(&part);
}

static void put_main(const struct jr_report *report, struct writing *writing)
{
    const struct jr_contents *contents = &writing->contents;
    size_t count;
    uint32_t *functions = jr_html_code_functions(report, &count);

    writing->has_code = jr_alloc(report->model->nfunctions + 1, 1);
    writing->rows =
        jr_alloc(report->model->nfunctions + 1, sizeof(*writing->rows));
    for (size_t i = 0; i < count; i++)
        writing->has_code[functions[i]] = 1;
    if (report->nparts > 1)
        put_part(writing, 0);
    for (size_t i = 0; i < contents->nparts; i++)
        put_part(writing, contents->parts[i]);
    jr_html_code(report, functions, count, writing->out);
    free(functions);
    free(writing->has_code);
    free(writing->rows);
}

void jr_write_html(const struct jr_report *report, FILE *out)
{
    struct writing writing = {.report = report, .out = out};

    jr_contents_open(report, &writing.contents);
    fputs("<!DOCTYPE html>\n<html lang=\"en\" id=\"top\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, "
          "initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"generator\" content=\"jprof-report " JP_VERSION "\">\n"
          "<title>Jprof Profile Report</title>\n<style>\n",
          out);
    fputs(jr_report_css, out);
    fputs("</style>\n</head>\n<body>\n", out);
    jr_html_head(report, out);
    jr_html_contents(report, &writing.contents, out);
    fputs("<main>\n", out);
    if (report->nparts == 0)
        jr_html_nothing(report, out);
    jr_waits_html(report, JR_WAITS_PLAIN, out);
    put_main(report, &writing);
    fputs("</main>\n<footer>jprof-report " JP_VERSION
          ". Count (self): time in the function itself. Hits (total): time in "
          "the function and everything it calls; a function counts once per "
          "stack. Both are in sampling periods.</footer>\n<script>\n",
          out);
    fputs(jr_report_js, out);
    fputs("</script>\n</body>\n</html>\n", out);
    jr_contents_close(report, &writing.contents);
}
