/* SPDX-License-Identifier: MIT
 *
 * The table of report formats: what options, help, file names and messages
 * know of them.
 * Runs in: analyzer. */
#ifndef JR_FORMATS_H
#define JR_FORMATS_H

#include "model/needs.h"
#include "write/report.h"

struct jr_format {
    const char *name;      /* as --format takes it */
    const char *extension; /* of files, with the dot */
    jr_write_fn *write;
    unsigned needs; /* enum jr_needs: what it needs of the model */
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
