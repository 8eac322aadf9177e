/* SPDX-License-Identifier: MIT
 *
 * Describes the coverage in sentences.
 * Runs in: analyzer. */
#ifndef JR_COVERAGE_H
#define JR_COVERAGE_H

#include "report.h"

/* "98.7% of 36.20 s of CPU time", then the CPU time that is not counted.  Sets
 * *bad to whether the coverage is low or a process is missing.  NULL if no
 * coverage is known; else the caller frees it. */
char *jr_coverage_text(const struct jr_report *report, int *bad);

/* The i-th sentence about CPU time without samples; NULL: there are no more.
 * The caller frees it. */
char *jr_coverage_gap(const struct jr_report *report, size_t i);

/* The share of the CPU time that samples cover, 0 to 100. */
double jr_coverage_percent(const struct jr_cover *cover);

#endif
