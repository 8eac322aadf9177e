/* SPDX-License-Identifier: MIT
 *
 * The input of the writers, which are one a format.
 * Runs in: analyzer. */
#ifndef JR_REPORT_H
#define JR_REPORT_H

#include <stdio.h>

#include "missing/nameless.h"
#include "model/cover/cover.h"
#include "model/part.h"
#include "model/scope.h"
#include "symbol/listing.h"

struct jr_report {
    const struct jr_model *model;
    const struct jr_scope_key *parts;
    size_t nparts;
    const struct jr_cover *cover; /* NULL: not known */
    int merged;                   /* of whole trees of processes */
    const char *app;              /* the program, as the user named it */
    char **notes;                 /* what a reader of the report should know */
    size_t nnotes;
    const struct jr_nameless_list *nameless; /* NULL: not known */
    size_t changed; /* binaries that are not those of the profile */
    const char *const *annotate; /* names of functions whose code is listed */
    size_t nannotate;
    const char *sides[JR_SIDES]; /* with model->compares: what is compared, as
                                    the user named it */
    int per;                     /* --per: compare time a unit of work, */
    double units[JR_SIDES];      /* of so many; else shares */
    struct jr_listing_places places; /* where sources may be read */
    struct jr_symbols *symbols;      /* of the model */
    const char *const *logs;         /* paths of those that were asked for */
    size_t nlogs;
    struct jr_diag *diag; /* what makes the report partial */
    uint64_t
        limit; /* functions that a process or thread shows beside the total;
                     0: as many as fit; JR_NO_LIMIT: all, and their callers */
};

#define JR_NO_LIMIT UINT64_MAX

/* Writes the report to `out`; errors stay in the stream for the caller, who
 * checks ferror. */
typedef void jr_write_fn(const struct jr_report *report, FILE *out);

#endif
