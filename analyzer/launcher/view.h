/* SPDX-License-Identifier: MIT
 *
 * jprof view: opens a profile in a browser or in a viewer.
 * Runs in: launcher. */
#ifndef JL_VIEW_H
#define JL_VIEW_H

/* Runs the command, words[0] being "view".  Returns the exit status; what
 * cannot be done is said, or ends the launcher. */
int jl_view(char **words);

#endif
