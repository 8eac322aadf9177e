/* SPDX-License-Identifier: MIT
 *
 * Real time in a report: what blocked, and the time of functions by state.
 * Runs in: analyzer. */
#ifndef JR_WAITS_H
#define JR_WAITS_H

#include "report.h"

/* Nothing where no sample is of real time. */
void jr_waits_text(const struct jr_report *report, FILE *out);
void jr_waits_html(const struct jr_report *report, FILE *out);
void jr_waits_summary(const struct jr_report *report, FILE *out);

#endif
