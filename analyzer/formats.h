/* SPDX-License-Identifier: MIT
 *
 * The table of report formats: what options, help, file names and messages
 * know of them.
 * Runs in: analyzer. */
#ifndef JR_FORMATS_H
#define JR_FORMATS_H

#include "write/report.h"

struct jr_format {
    const char *name;      /* as --format takes it */
    const char *extension; /* of files, with the dot */
    jr_write_fn *write;
    int has_code; /* lists machine code, if only when asked to */
    enum { JR_TREE_LEAVES, JR_TREE_PATHS, JR_TREE_CALLS } tree;
    /* what it has of stacks: their innermost functions, all of them, and who
     * called whom */
    enum { JR_SAMPLES_NONE, JR_SAMPLES_ALL, JR_SAMPLES_CLOSE } has_samples;
    /* has each sample with its time; CLOSE: of very many, those near each
     * other as one */
    enum { JR_PLACES_NO, JR_PLACES, JR_PLACES_APART } places;
    /* whether it has addresses and lines, and sums by thread and event */
    enum { JR_ANNOTATE_NO, JR_ANNOTATE_MAY, JR_ANNOTATE_MUST } annotate;
    /* whether it goes with --annotate */
    const char *help; /* what it is, for people */
};

/* The format of that name, or NULL. */
const struct jr_format *jr_format_find(const char *name);

/* The format that takes the place of this one with --diff; NULL: none does. */
const struct jr_format *jr_format_compares(const struct jr_format *format);

/* The format that --annotate means where no other is asked for. */
const struct jr_format *jr_format_annotated(void);

/* "html, text and annotate": the names of all formats, or of those that go with
 * --annotate.  The caller frees it. */
char *jr_format_names(int annotated);

/* All formats, the default first; ends with a name of NULL. */
extern const struct jr_format jr_formats[];

#endif
