/* SPDX-License-Identifier: MIT
 *
 * Types and functions that the files of the HTML writer share.
 * Runs in: analyzer. */
#ifndef JR_HTML_H
#define JR_HTML_H

#include "write/parts.h"
#include "write/report.h"

/* The writer of the page. */
jr_write_fn jr_write_html;

/* Writes `text`; text longer than `most` bytes is cut there and ends in an
 * ellipsis. */
void jr_html_text(FILE *out, const char *text, size_t most);

/* assets.c: the page's style sheet and script; NUL-terminated. */
extern const char jr_report_css[];
extern const char jr_report_js[];

/* The part that is being written.  Its anchors contain `number`: part_N,
 * flat_N, hier_N, and fN-R for the function in row R.  A short part has the
 * anchor part_N only, and its functions link to those of the total. */
struct jr_html_part {
    const struct jr_report *report;
    const struct jr_part *part;
    size_t number;
    FILE *out;
    const uint8_t *has_code; /* by function: the page has its code */
    const uint32_t *rows;    /* in a short part, by function: its row in the
                                total, plus one; 0: it is not shown there */
};

/* html_head.c: a list of sentences about CPU time without samples and the
 * notes; nothing where there are none. */
void jr_html_notes(const struct jr_report *report, FILE *out);

/* html_write.c: says that there are no samples to show, and why that may be. */
void jr_html_nothing(const struct jr_report *report, FILE *out);

/* html_head.c: title, facts, notes. */
void jr_html_head(const struct jr_report *report, FILE *out);

/* html_contents.c: the list of threads or processes, each with its share. */
void jr_html_contents(const struct jr_report *report,
                      const struct jr_contents *contents, FILE *out);

/* How many callers, and callees, of a function the page asks for. */
#define JR_HTML_LINKS 51

/* html_flat.c, html_hier.c: the two profiles of a part; jr_html_short writes a
 * short part, which has a shortened flat profile only. */
void jr_html_flat(const struct jr_html_part *page);
void jr_html_short(const struct jr_html_part *page, const char *title);
void jr_html_hier(const struct jr_html_part *page);

/* html_waits.c: real time, in the plain report or on the page with a script;
 * writes nothing for a profile of CPU time. */
enum jr_waits_page { JR_WAITS_PLAIN, JR_WAITS_PAGE };
void jr_waits_html(const struct jr_report *report, enum jr_waits_page page,
                   FILE *out);

/* html_code.c: the annotated code of the hottest functions; the anchor of
 * function F is cF.  jr_html_code_functions selects them: it returns an array
 * of *count function numbers, which the caller frees. */
uint32_t *jr_html_code_functions(const struct jr_report *report, size_t *count);
void jr_html_code(const struct jr_report *report, const uint32_t *functions,
                  size_t count, FILE *out);

/* A function's name as a link to its section. */
void jr_html_name(const struct jr_html_part *page, size_t row);
/* The name at the head of a function's line: with the runtime's name as a
 * tooltip, the tiers (if several, each with its Count, or with `hits` its Hits)
 * and the module. */
void jr_html_title(const struct jr_html_part *page, size_t row, int hits);
#endif
