/* SPDX-License-Identifier: MIT
 *
 * Steers the profile of a running program.
 * Runs in: launcher. */
#ifndef JL_CONTROL_H
#define JL_CONTROL_H

#include "launcher/base/help.h"

extern const struct jl_help jl_control_help;

/* `jprof start|pause|clear|save PID`: words[0] is the command, a NULL the last
 * one.  Returns 0; everything else ends the launcher. */
int jl_control(char **words);

#endif
