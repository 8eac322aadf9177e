/* SPDX-License-Identifier: MIT
 *
 * Reads the command line of jprof-report.
 * Runs in: analyzer. */
#ifndef JR_OPTIONS_PARSE_H
#define JR_OPTIONS_PARSE_H

#include <stdio.h>

#include "options.h"

/* Reads the command line; the strings of *options point into argv.  Returns
 * 0, or -1 after saying on stderr what is wrong with it.  The caller frees
 * *options with jr_options_free in each case. */
int jr_options_parse(int argc, char **argv, struct jr_options *options);
void jr_options_free(struct jr_options *options);

/* Prints the text of --help. */
void jr_options_help(FILE *out);

#endif
