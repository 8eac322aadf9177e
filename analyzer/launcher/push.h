/* SPDX-License-Identifier: MIT
 *
 * jprof push: a profile to a server.
 * Runs in: launcher. */
#ifndef JL_PUSH_H
#define JL_PUSH_H

#include "launcher/base/help.h"

extern const struct jl_help jl_push_help;

/* Runs the command with its words ("push" first, NULL last); returns the exit
 * status. */
int jl_push(char **words);

#endif
