/* SPDX-License-Identifier: MIT
 *
 * The order of the parts of a report: processes are grouped by program and
 * role.
 * Runs in: analyzer. */
#ifndef JR_PARTS_H
#define JR_PARTS_H

#include "report.h"

/* Parts of one program and role, or a part alone. */
struct jr_group {
    char *name;          /* "cc1", "firefox tab": for people */
    size_t first, count; /* slice of jr_contents.parts */
    uint64_t weight_ns, samples;
};

/* All parts except the total. */
struct jr_contents {
    size_t *parts; /* into jr_report.parts, by descending weight in a group */
    char **titles; /* of all in jr_report.parts */
    size_t nparts;
    struct jr_group *groups; /* by descending weight; threads: each alone */
    size_t ngroups;
    uint64_t most; /* functions that a short part shows */
};

void jr_contents_open(const struct jr_report *report,
                      struct jr_contents *contents);
void jr_contents_close(const struct jr_report *report,
                       struct jr_contents *contents);

/* Whether part number `part` shows its heaviest functions only: if the report
 * has a total and --limit=none is not given. */
int jr_part_is_short(const struct jr_report *report, size_t part);

/* Builds the part as the report shows it, which asks for so many callers, and
 * callees, of a function; jr_part_free frees it. */
void jr_part_open(const struct jr_report *report, size_t number, uint64_t most,
                  size_t links, struct jr_part *part);

#endif
