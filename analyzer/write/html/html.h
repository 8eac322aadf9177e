/* SPDX-License-Identifier: MIT
 *
 * What the files of the HTML writer share.
 * Runs in: analyzer. */
#ifndef JR_HTML_H
#define JR_HTML_H

#include "write/parts.h"
#include "write/report.h"

/* The writer of the page. */
jr_write_fn jr_write_html;

/* Text, the first `most` bytes of it at most and then an ellipsis. */
void jr_html_text(FILE *out, const char *text, size_t most);

/* assets.c: the page's style sheet and script; NUL-terminated. */
extern const char jr_report_css[];
extern const char jr_report_js[];

/* A part that is being written; `number` makes its anchors unique:
 * part_N, flat_N, hier_N, and fN-R for the function in row R.  A short part has
 * part_N alone, and its functions lead to the total's. */
struct jr_html_part {
    const struct jr_report *report;
    const struct jr_part *part;
    size_t number;
    FILE *out;
    const uint8_t *has_code; /* by function: the page has its code */
    const uint32_t *rows;    /* in a short part, by function: its row in the
                                total, plus one; 0: it is not shown there */
};

/* html_head.c: title, facts, notes. */
void jr_html_head(const struct jr_report *report, FILE *out);

/* html_contents.c: the list of threads or processes, each with its share. */
void jr_html_contents(const struct jr_report *report,
                      const struct jr_contents *contents, FILE *out);

/* html_flat.c, html_hier.c: the two profiles of a part; what a short one has
 * instead. */
void jr_html_flat(const struct jr_html_part *page);
void jr_html_short(const struct jr_html_part *page, const char *title);
void jr_html_hier(const struct jr_html_part *page);

/* html_waits.c: real time; nothing for a profile of CPU time. */
void jr_waits_html(const struct jr_report *report, FILE *out);

/* html_code.c: the annotated code of the hottest functions; their anchors are
 * cF for function F.  Which ones there are is worked out once: an array of
 * *count that the caller frees. */
uint32_t *jr_html_code_functions(const struct jr_report *report, size_t *count);
void jr_html_code(const struct jr_report *report, const uint32_t *functions,
                  size_t count, FILE *out);

/* A function's name as a link to its section. */
void jr_html_name(const struct jr_html_part *page, size_t row);
/* The same for the line that is about the function: with its name as the
 * runtime wrote it, its tiers (each with its Count, or with `hits` its Hits,
 * where there are several) and its module. */
void jr_html_title(const struct jr_html_part *page, size_t row, int hits);
/* " j" or " u" for JIT and unnamed code, else "": a class to add. */
const char *jr_html_kind(const struct jr_function *function);

#endif
