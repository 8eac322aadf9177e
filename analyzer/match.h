/* SPDX-License-Identifier: MIT
 *
 * Tells whether a profile is of the program that the user named.
 * Runs in: analyzer. */
#ifndef JR_MATCH_H
#define JR_MATCH_H

/* Whether the executable `exe` of a profile is the program that the
 * user called `app`: the same base name (the profile may come from another
 * machine), or the same file.  app may be a link, here or in PATH. */
int jr_same_program(const char *app, const char *exe);

#endif
