/* SPDX-License-Identifier: MIT
 *
 * The head of a report for people: what was profiled, and what the report is
 * worth.
 * Runs in: analyzer. */
#ifndef JR_FACTS_H
#define JR_FACTS_H

#include "figures.h"
#include "report.h"

struct jr_fact {
    const char *label;
    char *text; /* not escaped */
    int bad;    /* takes from the worth of the report */
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

/* "node", "firefox tab": program and role of a process.  The caller frees. */
char *jr_process_name(const struct jr_process *process);

/* The titles of the parts of a report: "node (pid 12)"; of a thread "Thread 14
 * worker", with its process before it where there are several. */
char **jr_part_titles(const struct jr_report *report);
void jr_part_titles_free(const struct jr_report *report, char **titles);

#endif
