/* SPDX-License-Identifier: MIT
 *
 * The HTML report: one file that needs nothing else, readable without its
 * script.
 * Runs in: analyzer. */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jp_limits.h"
#include "write/escape.h"
#include "write/facts.h"

/* The list of threads or processes, each with its share. */
static void put_contents(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    int threads = model->filter.by_thread;

    if (report->nparts < 2 && !threads)
        return;
    fprintf(out, "<section class=\"list\"><h2>%s</h2>\n<ol>\n",
            threads ? "Threads" : "Processes");
    for (size_t i = 0; i < report->nparts; i++) {
        const struct jr_scope_key *key = &report->parts[i];
        double share = jr_percent(key->weight_ns, model->total.weight_ns);
        char *title = jr_part_title(report, key);

        fprintf(out,
                "<li style=\"--w:%.4f\"><b>%" PRIu64 "</b>"
                "<i>%.1f%%</i><a href=\"#part_%zu\">",
                share / 100, jr_periods(model, key->weight_ns), share, i);
        jr_put_html(out, title);
        fputs("</a></li>\n", out);
        free(title);
    }
    fputs("</ol></section>\n", out);
}

static void put_nothing(const struct jr_report *report, FILE *out)
{
    const struct jr_stats *total = &report->model->total;

    fputs("<p class=\"empty\">No samples to show. ", out);
    if (total->filtered)
        fprintf(out, "The filters dropped all %" PRIu64 " of them.",
                total->filtered);
    else if (total->sections == 0)
        fputs("The log has no such section.", out);
    else
        fputs("The program may have used no CPU time while it was profiled, "
              "or the thread asked for has none.",
              out);
    fputs("</p>\n", out);
}

static void put_part(const struct jr_report *report, size_t number,
                     const uint8_t *has_code, FILE *out)
{
    struct jr_part part;
    struct jr_html_part page = {report, &part, number, out, has_code};
    char *title = jr_part_title(report, &report->parts[number]);

    jr_part_build(report->model, &report->parts[number], &part);
    fprintf(out,
            "<section class=\"part\" id=\"part_%zu\">\n"
            "<div class=\"bar\"><h2>",
            number);
    jr_put_html(out, title);
    fprintf(out,
            "</h2><nav><a href=\"#flat_%zu\">flat</a> <span>|</span> "
            "<a href=\"#hier_%zu\">hierarchical</a>%s</nav></div>\n",
            number, number,
            report->nparts > 1 ? " <span>|</span> <a href=\"#top\">top</a>"
                               : "");
    if (part.nrows == 0)
        put_nothing(report, out);
    jr_html_flat(&page);
    jr_html_hier(&page);
    fputs("</section>\n", out);
    jr_part_free(&part);
    free(title);
}

void jr_write_html(const struct jr_report *report, FILE *out)
{
    uint32_t *functions;
    uint8_t *has_code;
    size_t count;

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
    put_contents(report, out);
    fputs("<main>\n", out);
    if (report->nparts == 0)
        put_nothing(report, out);
    jr_waits_html(report, out);
    functions = jr_html_code_functions(report, &count);
    has_code = jr_alloc(report->model->nfunctions + 1, 1);
    for (size_t i = 0; i < count; i++)
        has_code[functions[i]] = 1;
    for (size_t i = 0; i < report->nparts; i++)
        put_part(report, i, has_code, out);
    jr_html_code(report, functions, count, out);
    free(functions);
    free(has_code);
    fputs("</main>\n<footer>jprof-report " JP_VERSION
          ". Count: samples in the function itself. Hits: samples with it "
          "anywhere on the stack, once a stack. Both are weights in sampling "
          "periods.</footer>\n<script>\n",
          out);
    fputs(jr_report_js, out);
    fputs("</script>\n</body>\n</html>\n", out);
}
