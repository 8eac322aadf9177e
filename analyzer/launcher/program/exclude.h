/* SPDX-License-Identifier: MIT
 *
 * Words of a setup that would change or end what the user runs.
 * Runs in: launcher. */
#ifndef JL_EXCLUDE_H
#define JL_EXCLUDE_H

#include "launcher/os/environ.h"
#include "launcher/runtimes/runtimes.h"

/* Whether an argument, or a word of the variables of `setup`, is one of the
 * options (shell patterns). */
int jl_is_used(const char *options, char *const *args,
               const struct jl_setup *setup, const struct jl_env *env);

/* Whether an exclusion of the runtime depends on its version. */
int jl_excludes_by_version(const struct jl_runtime *runtime);

/* Takes the excluded words out of *setup and says so, but for words that
 * the user has set himself.  Returns why nothing is left, or NULL. */
const char *jl_exclude(struct jl_setup *setup, const struct jl_runtime *runtime,
                       struct jl_version version, char *const *args,
                       const struct jl_env *env);

#endif
