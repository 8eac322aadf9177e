/* SPDX-License-Identifier: MIT
 *
 * jprof pack: makes one file of a profile, to be read anywhere.
 * Runs in: launcher. */
#ifndef JL_PACK_H
#define JL_PACK_H

#include "launcher/base/help.h"

extern const struct jl_help jl_pack_help;

/* Runs the command, words[0] being "pack", by jprof-report in the place of this
 * process; what cannot be done is said and ends the launcher. */
int jl_pack(char **words);

#endif
