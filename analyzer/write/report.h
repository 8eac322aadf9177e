/* SPDX-License-Identifier: MIT
 *
 * The input of the writers, and the table of formats, each with its writer.
 * Runs in: analyzer. */
#ifndef JR_REPORT_H
#define JR_REPORT_H

#include <stdio.h>

#include "model/cover.h"
#include "model/part.h"

struct jr_report {
    const struct jr_model *model;
    const struct jr_scope_key *parts;
    size_t nparts;
    const struct jr_cover *cover; /* NULL: not known */
    int merged;                   /* of whole trees of processes */
    const char *app;              /* the program, as the user named it */
    char **notes;                 /* what a reader of the report should know */
    size_t nnotes;
    size_t changed; /* binaries that are not those of the profile */
    const char *const *annotate; /* names of functions whose code is listed */
    size_t nannotate;
    const char *folder; /* of the first log, with its slash, or "" */
    uint64_t
        limit; /* functions that a process or thread shows beside the total;
                     0: as many as fit; JR_NO_LIMIT: all, and their callers */
};

#define JR_NO_LIMIT UINT64_MAX

/* Writes the report to `out`; errors stay in the stream for the caller, who
 * checks ferror. */
typedef void jr_write_fn(const struct jr_report *report, FILE *out);

struct jr_format {
    const char *name;      /* as --format takes it */
    const char *extension; /* of files, with the dot */
    jr_write_fn *write;
    int has_code;  /* lists machine code, if only when asked to */
    int has_calls; /* lists callers and callees */
    enum { JR_ANNOTATE_NO, JR_ANNOTATE_MAY, JR_ANNOTATE_MUST } annotate;
    /* whether the format can be combined with --annotate */
    const char *help; /* its description in --help */
};

/* The format of that name, or NULL. */
const struct jr_format *jr_format_find(const char *name);

/* The format of --annotate without --format. */
const struct jr_format *jr_format_annotated(void);

/* "html, text and annotate": the names of all formats, or of those that can be
 * combined with --annotate.  The caller frees it. */
char *jr_format_names(int annotated);

/* All formats, the default first; ends with a name of NULL. */
extern const struct jr_format jr_formats[];

jr_write_fn jr_write_html, jr_write_text, jr_write_collapsed, jr_write_summary,
    jr_write_cleo, jr_write_annotate;

#endif
