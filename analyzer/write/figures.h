/* SPDX-License-Identifier: MIT
 *
 * Shares, rates, times, and names of files and modules, for all writers.
 * Runs in: analyzer. */
#ifndef JR_FIGURES_H
#define JR_FIGURES_H

#include <stdint.h>
#include <stdio.h>

#include "model/model.h"

/* A time as text, "1.25 s" or "3 min 20 s".  The caller frees it. */
char *jr_duration(uint64_t ns);

/* The share of `part` in `whole`, 0 to 100; 0 if `whole` is 0. */
double jr_percent(uint64_t part, uint64_t whole);

/* Timer samples divided by their weight in seconds. */
double jr_rate_got(const struct jr_stats *stats);
/* All samples divided by their weight in seconds. */
double jr_rate_all(const struct jr_stats *stats);
/* The same for the samples taken at a lowered rate. */
double jr_rate_lowered(const struct jr_stats *stats);
/* Sum of the lost samples. */
uint64_t jr_lost(const struct jr_stats *stats);
/* Lookups in the cache of unwind rules, hits and misses. */
uint64_t jr_rules(const struct jr_stats *stats);
/* Samples whose stack does not reach the root. */
uint64_t jr_incomplete(const struct jr_stats *stats);

/* The module to show beside a function's name; "" if the name contains it. */
const char *jr_shown_module(const struct jr_function *function);

/* What stands behind the name of a function that was inlined. */
#define JR_INLINED " (inlined)"

/* Writes " [tier]" if the tier is part of the function's identity, and
 * JR_INLINED. */
void jr_put_tier(const struct jr_function *function, FILE *out);

/* The path of a process's executable, from its log or map; "" if unknown. */
const char *jr_exe_of(const struct jr_process *process);

#endif
