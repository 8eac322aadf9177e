/* SPDX-License-Identifier: MIT
 *
 * What the files of the HTML writer share.
 * Runs in: analyzer. */
#ifndef JR_HTML_H
#define JR_HTML_H

#include "report.h"

/* assets.c: the page's style sheet and script; NUL-terminated. */
extern const char jr_report_css[];
extern const char jr_report_js[];

/* A part that is being written; `number` makes its anchors unique:
 * part_N, flat_N, hier_N, and fN-R for the function in row R. */
struct jr_html_part {
    const struct jr_report *report;
    const struct jr_part *part;
    size_t number;
    FILE *out;
};

/* html_head.c: title, facts, notes. */
void jr_html_head(const struct jr_report *report, FILE *out);

/* html_flat.c, html_hier.c: the two profiles of a part. */
void jr_html_flat(const struct jr_html_part *page);
void jr_html_hier(const struct jr_html_part *page);

/* A function's name as a link to its section. */
void jr_html_name(const struct jr_html_part *page, size_t row);
/* The module beside it, or nothing. */
void jr_html_module(const struct jr_html_part *page, size_t row);
/* " j" or " u" for JIT and unnamed code, else "": a class to add. */
const char *jr_html_kind(const struct jr_function *function);

#endif
