/* SPDX-License-Identifier: MIT
 *
 * Where reports go.
 * Runs in: analyzer. */
#ifndef JR_OUTPUT_H
#define JR_OUTPUT_H

#include "write/report.h"

/* The file for the report of a log: LOG.EXTENSION beside it, or in `dir` (not
 * NULL) under the log's own name.  The caller frees it. */
char *jr_output_name(const char *log, const char *dir, const char *extension);

/* Writes the report to the file `path`, or to stdout when it is NULL.  Returns
 * 0, or -1 after saying what went wrong; a file cut by an error is removed. */
int jr_output_write(const struct jr_report *report,
                    const struct jr_format *format, const char *path);

#endif
