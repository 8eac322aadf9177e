/* SPDX-License-Identifier: MIT
 *
 * Where reports go.
 * Runs in: analyzer. */
#ifndef JR_OUTPUT_H
#define JR_OUTPUT_H

#include "formats.h"

/* The file for the report of a log: LOG.EXTENSION beside it, or in `dir` (not
 * NULL) under the log's own name.  The caller frees it. */
char *jr_output_name(const char *log, const char *dir, const char *extension);

/* Writes the report to the file `path`, or to stdout, which is closed then,
 * when it is NULL.  A regular file is replaced when all is written, and stays
 * as it was after an error; a device or a FIFO is written to directly.  Where
 * the user did not name the path but it was made up, only he may read the
 * file, and nothing is replaced but a file of his own: no link is followed.
 * Returns 0, or -1 after saying what went wrong. */
int jr_output_write(const struct jr_report *report,
                    const struct jr_format *format, const char *path,
                    int is_made_up);

/* Closes stdout.  Returns 0, or -1 after saying that `what` ("the help") could
 * not be written to its end. */
int jr_output_close_stdout(const char *what);

#endif
