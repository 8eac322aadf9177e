/* SPDX-License-Identifier: MIT
 *
 * Writes the head of the HTML report: the profiled run and the data quality.
 * Runs in: analyzer. */
#include <stdlib.h>

#include "html.h"
#include "write/coverage.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/program.h"

static void put_facts(FILE *out, const char *class, const char *title,
                      const struct jr_facts *facts)
{
    fprintf(out, "<section class=\"%s\"><h2>%s</h2><dl>\n", class, title);
    for (size_t i = 0; i < facts->count; i++) {
        const struct jr_fact *fact = &facts->items[i];

        fprintf(out, "<div%s><dt>%s</dt><dd>",
                fact->bad ? " class=\"bad\"" : "", fact->label);
        jr_put_html(out, fact->text);
        fputs("</dd></div>\n", out);
    }
    fputs("</dl>", out);
}

static void put_note(FILE *out, const char *text)
{
    fputs("<li>", out);
    jr_put_html(out, text);
    fputs("</li>\n", out);
}

void jr_html_notes(const struct jr_report *report, FILE *out)
{
    char *gap = jr_coverage_gap(report, 0);

    if (report->nnotes == 0 && gap == NULL)
        return;
    fputs("<ul class=\"notes\">\n", out);
    for (size_t i = 1; gap != NULL; i++) {
        put_note(out, gap);
        free(gap);
        gap = jr_coverage_gap(report, i);
    }
    for (size_t i = 0; i < report->nnotes; i++)
        put_note(out, report->notes[i]);
    fputs("</ul>", out);
}

void jr_html_head(const struct jr_report *report, FILE *out)
{
    char *name = jr_program_name(report);
    struct jr_facts about = {0}, quality = {0};

    jr_facts_about(report, &about);
    jr_facts_quality(report, &quality);
    fputs("<header>\n<h1>Jprof Profile Report</h1>\n<p class=\"of\">", out);
    jr_put_html(out, name);
    free(name);
    fputs("</p>\n<div class=\"facts\">\n", out);
    put_facts(out, "about", "Profiled run", &about);
    fputs("</section>\n", out);
    put_facts(out, "quality", "Data quality", &quality);
    jr_html_notes(report, out);
    fputs("</section>\n</div>\n</header>\n", out);
    jr_facts_free(&about);
    jr_facts_free(&quality);
}
