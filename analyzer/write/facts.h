/* SPDX-License-Identifier: MIT
 *
 * The head of a report for people: what was profiled, and what the report is
 * worth.
 * Runs in: analyzer. */
#ifndef JR_FACTS_H
#define JR_FACTS_H

#include "report.h"

struct jr_fact {
    const char *label;
    char *text;         /* not escaped */
    int bad;            /* takes from the worth of the report */
};

struct jr_facts {
    struct jr_fact *items;
    size_t count, room;
};

/* What was profiled and how. */
void jr_facts_about(const struct jr_report *report, struct jr_facts *facts);
/* Losses and gaps, the good news (none) included. */
void jr_facts_worth(const struct jr_report *report, struct jr_facts *facts);
void jr_facts_free(struct jr_facts *facts);

/* "node (pid 12)"; with a thread ", thread 14 (worker)".  The caller frees. */
char *jr_part_title(const struct jr_report *report,
                    const struct jr_scope_key *key);

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
/* Samples whose stack does not reach the root. */
/* Unwinding rules that walks asked for. */
uint64_t jr_rules(const struct jr_stats *stats);
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
