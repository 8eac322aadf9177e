/* SPDX-License-Identifier: MIT
 *
 * Versions of runtimes.
 * Runs in: launcher. */
#ifndef JL_VERSION_H
#define JL_VERSION_H

#include "launcher/os/environ.h"
#include "launcher/runtimes/runtimes.h"

/* Reads MAJOR.MINOR behind `before` at the start of the NUL-terminated `text`;
 * returns 0, or -1 when it is not there. */
int jl_version_read(const char *text, const char *before,
                    struct jl_version *version);

/* Whether `version` is `bound` or a later one. */
int jl_version_is_from(struct jl_version version, struct jl_version bound);

/* Finds the version of the runtime in `file`: in the file's name, or by
 * running it with the argument that has it print its version.  0.0: not
 * known. */
struct jl_version jl_version_learn(const struct jl_runtime *runtime,
                                   const char *file, const struct jl_env *env);

#endif
