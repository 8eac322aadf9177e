/* SPDX-License-Identifier: MIT
 *
 * jprof run --push: a process of the launcher's that sends the profile while
 * the program runs.
 * Runs in: launcher. */
#ifndef JL_LIVE_H
#define JL_LIVE_H

#include "launcher/base/options.h"
#include "launcher/folder/folder.h"

struct jl_live {
    pid_t pid;
    int alive; /* closed when the program has ended, or the launcher */
};

/* Starts it, before the program.  That curl is missing or the spool cannot be
 * used ends the launcher. */
void jl_live_start(struct jl_live *live, const struct jl_options *options,
                   const struct jl_folder *folder, const char *reporter);

/* Tells the process to send the rest, and waits until it has. */
void jl_live_finish(const struct jl_live *live);

#endif
