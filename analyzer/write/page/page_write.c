/* SPDX-License-Identifier: MIT
 *
 * Writes the page that leads to the hot spot: head, plain tables, data, and
 * the script that makes views of the data.
 * Runs in: analyzer. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "jp_limits.h"
#include "write/diff/diff.h"
#include "write/escape.h"
#include "write/html/html.h"

static void put_policy(FILE *out)
{
    fprintf(out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\""
            "default-src 'none'; script-src 'sha256-%s'; "
            "style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
            jr_page_js_hash, jr_page_css_hash);
}

/* The text report of a comparison, which has the plain tables' place. */
static void put_diff(const struct jr_report *report, FILE *out)
{
    char *text = NULL, *next, *line;
    size_t size = 0;
    FILE *into = open_memstream(&text, &size);

    if (into == NULL)
        jr_no_memory();
    jr_write_diff(report, into);
    if (fclose(into) != 0)
        jr_no_memory();
    fputs("<pre>", out);
    next = text;
    while ((line = strsep(&next, "\n")) != NULL) {
        jr_put_html(out, line);
        fputc('\n', out);
    }
    fputs("</pre>\n", out);
    free(text);
}

static void put_body(const struct jr_report *report, FILE *out)
{
    jr_page_head(report, out);
    if (report->model->total.samples == 0)
        jr_html_nothing(report, out);
    fputs("<main id=\"app\" hidden></main>\n"
          "<details id=\"plain\" open><summary>Plain tables</summary>\n"
          "<p id=\"lack\">The flame graph, the timeline and the other views "
          "need JavaScript. These are the tables of the heaviest functions; "
          "--format=html-plain writes those of all.</p>\n",
          out);
    if (report->model->compares)
        put_diff(report, out);
    else
        jr_page_tables(report, out);
    fputs("</details>\n<footer>jprof-report " JP_VERSION
          ". Count (self): time in the function itself. Hits (total): time in "
          "the function and everything it calls; a function counts once per "
          "stack. Both are in sampling periods.</footer>\n",
          out);
}

void jr_write_page(const struct jr_report *report, FILE *out)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\" id=\"top\">\n<head>\n"
          "<meta charset=\"utf-8\">\n",
          out);
    put_policy(out);
    fprintf(out,
            "<meta name=\"viewport\" content=\"width=device-width, "
            "initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"generator\" content=\"jprof-report " JP_VERSION
            "\">\n<title>Jprof Profile Report</title>\n<style>%s</style>\n"
            "</head>\n<body>\n",
            jr_page_css);
    put_body(report, out);
    if (report->model->total.samples > 0)
        jr_page_data(report, out);
    fprintf(out, "<script>%s</script>\n</body>\n</html>\n", jr_page_js);
}
