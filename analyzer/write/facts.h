/* SPDX-License-Identifier: MIT
 *
 * The head of the text and HTML reports: facts about the profiled run, and
 * facts about the quality of the data.
 * Runs in: analyzer. */
#ifndef JR_FACTS_H
#define JR_FACTS_H

#include "figures.h"
#include "report.h"

struct jr_fact {
    const char *label;
    char *text; /* not escaped */
    int bad;    /* the fact lowers the quality of the data */
};

struct jr_facts {
    struct jr_fact *items;
    size_t count, room;
};

/* Facts about the run: program, times, samples, clock, filters. */
void jr_facts_about(const struct jr_report *report, struct jr_facts *facts);
/* Facts about the quality of the data: coverage, lost samples, incomplete
 * stacks, unnamed frames; "none" where nothing is wrong. */
void jr_facts_quality(const struct jr_report *report, struct jr_facts *facts);
void jr_facts_free(struct jr_facts *facts);

/* Says that a run of a CPU clock had fewer samples a second than asked for,
 * why, and what helps: "1000 Hz requested, 251 Hz achieved: ...".  NULL: it had
 * at least nine tenths of them, or it is too short.  The caller frees. */
char *jr_rate_warning(const struct jr_model *model);

/* "node", "firefox tab": program and role of a process.  The caller frees. */
char *jr_process_name(const struct jr_process *process);

/* The titles of the parts of a report: "node (pid 12)"; of a thread "Thread 14
 * worker", with its process before it where there are several. */
char **jr_part_titles(const struct jr_report *report);
void jr_part_titles_free(const struct jr_report *report, char **titles);

#endif
