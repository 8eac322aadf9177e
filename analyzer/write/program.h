/* SPDX-License-Identifier: MIT
 *
 * The profiled program: the command that the user gave, and the executable that
 * it ran.
 * Runs in: analyzer. */
#ifndef JR_PROGRAM_H
#define JR_PROGRAM_H

#include "report.h"

/* The caller frees the result of each function. */

/* A short name, for a title. */
char *jr_program_name(const struct jr_report *report);

/* "/usr/bin/python3.11 (started as ./tool)": the last program of the
 * first process, which a script or wrapper may have executed. */
char *jr_program_text(const struct jr_report *report);

/* The command line; NULL when it is not known. */
char *jr_program_command(const struct jr_report *report);

#endif
