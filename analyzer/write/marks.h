/* SPDX-License-Identifier: MIT
 *
 * The marks of the program in text and summary.
 * Runs in: analyzer. */
#ifndef JR_WRITE_MARKS_H
#define JR_WRITE_MARKS_H

#include "report.h"

#define JR_MARKS_SHOWN 40 /* names of spans, and as many of marks, in text */

/* Write spans and marks by name; they write nothing where there are none. */
void jr_marks_text(const struct jr_report *report, FILE *out);
void jr_marks_summary(const struct jr_report *report, FILE *out);

#endif
