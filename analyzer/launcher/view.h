/* SPDX-License-Identifier: MIT
 *
 * jprof view: opens a profile in a browser or in a viewer.
 * Runs in: launcher. */
#ifndef JL_VIEW_H
#define JL_VIEW_H

#include "launcher/base/options.h"

extern const struct jl_help jl_view_help;

/* Runs the command, words[0] being "view".  Returns the exit status; what
 * cannot be done is said, or ends the launcher. */
int jl_view(char **words);

/* Opens the profile in `folder` as the command does, in a process of its own,
 * and waits for its end; says why it cannot.  The viewer's output goes to
 * stderr. */
void jl_view_at_end(enum jl_viewer viewer, char *folder);

#endif
