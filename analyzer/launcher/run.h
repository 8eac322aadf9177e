/* SPDX-License-Identifier: MIT
 *
 * `jprof run`: a program, its profile and the report.
 * Runs in: launcher. */
#ifndef JL_RUN_H
#define JL_RUN_H

/* Does all of it for the arguments up to a NULL; returns the program's exit
 * status. */
int jl_run(char **words);

#endif
