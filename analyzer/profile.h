/* SPDX-License-Identifier: MIT
 *
 * The operands of jprof-report: a program and its logs, or a profile, of which
 * the logs and the program are found out.
 * Runs in: analyzer. */
#ifndef JR_PROFILE_H
#define JR_PROFILE_H

#include "options.h"

/* Takes the program's name from the operands, which are all in options->logs,
 * unless the first is a log or a folder.  What is a profile is merged, if no
 * folder for several reports is given. */
void jr_profile_settle(struct jr_options *options);

/* Returns whether the operand that was taken for the program is a file that
 * cannot be executed. */
int jr_profile_is_unknown(const char *operand);

/* Puts the logs of each folder in its place, and the program of the first log
 * where none was named.  Returns 0, or -1 after saying what is not there. */
int jr_profile_expand(struct jr_options *options);

/* Whether a log is one of those that were unpacked from an archive. */
int jr_profile_is_packed(const struct jr_options *options, const char *log);

#endif
