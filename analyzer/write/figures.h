/* SPDX-License-Identifier: MIT
 *
 * Figures and short words that every writer uses: shares, rates, times, names
 * of files and modules.
 * Runs in: analyzer. */
#ifndef JR_FIGURES_H
#define JR_FIGURES_H

#include <stdint.h>
#include <stdio.h>

#include "model/model.h"

/* Seconds in a form for people, "1.25 s" or "3 min 20 s".  The caller frees. */
char *jr_duration(uint64_t ns);

/* Share of `part` in `whole`, 0 to 100; 0 when there is no whole. */
double jr_percent(uint64_t part, uint64_t whole);

/* Timer samples per second of what they stand for. */
double jr_rate_got(const struct jr_stats *stats);
/* Samples of any kind per second of what they stand for. */
double jr_rate_all(const struct jr_stats *stats);
/* The same of the time in which the rate was lowered. */
double jr_rate_lowered(const struct jr_stats *stats);
/* Sum of the lost samples. */
uint64_t jr_lost(const struct jr_stats *stats);
/* Unwinding rules that walks asked for. */
uint64_t jr_rules(const struct jr_stats *stats);
/* Samples whose stack does not reach the root. */
uint64_t jr_incomplete(const struct jr_stats *stats);

/* The module to show beside a function's name: "" when the name says it. */
const char *jr_shown_module(const struct jr_function *function);

/* " [tier]" of a function that its tier tells from others, else nothing. */
void jr_put_tier(const struct jr_function *function, FILE *out);

/* The last component of a path. */
const char *jr_base_name(const char *path);
/* The executable of a process as its log or map names it; "" when unknown. */
const char *jr_exe_of(const struct jr_process *process);

#endif
