/* SPDX-License-Identifier: MIT
 *
 * Tells whose program the user wants to run: which row of the table of
 * runtimes it is.
 * Runs in: launcher. */
#ifndef JL_RECOGNISE_H
#define JL_RECOGNISE_H

#include "launcher/os/environ.h"
#include "launcher/runtimes/runtimes.h"

/* The runtime of the program that is found at `path` and is given `argv` (its
 * name first, a NULL last), or that it leads to: the interpreter that a script
 * names, the program that env or its like starts, in the PATH of *env.  *file:
 * the runtime's file, without links; allocated.  NULL: none that is known. */
const struct jl_runtime *jl_recognise(const char *path, char *const *argv,
                                      const struct jl_env *env, char **file);

#endif
