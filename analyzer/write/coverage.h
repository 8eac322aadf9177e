/* SPDX-License-Identifier: MIT
 *
 * Coverage in words.
 * Runs in: analyzer. */
#ifndef JR_COVERAGE_H
#define JR_COVERAGE_H

#include "report.h"

/* "98.7% of 36.20 s of CPU time", with what is left out of it.  *bad: it takes
 * from the worth of the report.  NULL when nothing is known; else the caller
 * frees it. */
char *jr_coverage_text(const struct jr_report *report, int *bad);

/* The i-th sentence about what is not covered; NULL when there are no more.
 * The caller frees it. */
char *jr_coverage_gap(const struct jr_report *report, size_t i);

/* Share of the CPU time, 0 to 100. */
double jr_coverage_percent(const struct jr_cover *cover);

#endif
