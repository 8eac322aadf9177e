/* SPDX-License-Identifier: MIT
 *
 * Two profiles in one model (jr_model.compares), function by function.
 * Runs in: analyzer. */
#ifndef JR_DIFF_H
#define JR_DIFF_H

#include "write/report.h"

/* join.c: has functions that are one on both sides be one in the model.  Once,
 * after the last jr_model_add and before jr_model_finish. */
void jr_diff_join(struct jr_model *model);

/* A sum of weights in ns, and its variance, ns squared. */
struct jr_diff_sum {
    double ns, variance;
};

struct jr_diff_side {
    struct jr_diff_sum self, total; /* Count and Hits */
};

struct jr_diff_row {
    uint32_t function;
    struct jr_diff_side sides[JR_SIDES];
};

/* How a function differs. */
struct jr_difference {
    double before, after; /* shares of 1; or seconds a unit of work */
    double step, error;   /* after less before, and its standard error */
    int is_sure;
};

/* A call path that one side alone has, while the path to its caller is on
 * both. */
struct jr_diff_path {
    uint32_t node;
    uint8_t side; /* that has it */
    struct jr_diff_sum sum;
};

struct jr_diff {
    const struct jr_report *report;
    struct jr_diff_row *rows; /* of functions that are on a stack */
    size_t nrows;
    struct jr_diff_path *paths; /* the heaviest first */
    size_t npaths, paths_room;
    struct jr_diff_sum whole[JR_SIDES];
    uint64_t samples[JR_SIDES];
    uint64_t period_ns[JR_SIDES]; /* of the first process of each */
    double limit;                 /* of standard errors that chance may make */
};

/* rows.c: works all of it out; jr_diff_close frees it. */
void jr_diff_open(struct jr_diff *diff, const struct jr_report *report);
void jr_diff_close(struct jr_diff *diff);

/* rows.c: compares two sums of the sides: shares of all, or with report->per
 * time a unit of work. */
struct jr_difference jr_diff_compare(const struct jr_diff *diff,
                                     const struct jr_diff_sum *before,
                                     const struct jr_diff_sum *after);

/* diff_write.c: the text report. */
jr_write_fn jr_write_diff;

#endif
