/* SPDX-License-Identifier: MIT
 *
 * The programs that a shell script gives its place to.
 * Runs in: launcher. */
#ifndef JL_SCRIPT_H
#define JL_SCRIPT_H

#include <stddef.h>

#include "launcher/os/environ.h"

#define JL_SCRIPT_PROGRAMS 16

/* Names or paths of programs, each allocated. */
struct jl_script_programs {
    char *names[JL_SCRIPT_PROGRAMS];
    size_t count;
};

/* Whether a program of this name runs shell scripts. */
int jl_is_shell(const char *name);

/* Reads the script at `path` and finds the programs that may take its place:
 * those behind `exec`, and those that are given all of the script's arguments.
 * Variables have the values that the script, the files that it reads with `.`,
 * or the environment *env give them.  Nothing is run; of a large script
 * only the beginning is read.  The caller frees the names. */
void jl_script_programs(const char *path, const struct jl_env *env,
                        struct jl_script_programs *programs);
void jl_script_programs_free(struct jl_script_programs *programs);

#endif
