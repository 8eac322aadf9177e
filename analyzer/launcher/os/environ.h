/* SPDX-License-Identifier: MIT
 *
 * The environment that the program will get: a copy of the launcher's own,
 * changed here and there.  Names that no shell knows pass through.
 * Runs in: launcher. */
#ifndef JL_ENVIRON_H
#define JL_ENVIRON_H

#include <stddef.h>

struct jl_env {
    char **words;       /* NAME=VALUE, each allocated; NULL at the end */
    size_t count, room; /* count is without the NULL */
};

/* Fills *env with copies of the NULL-terminated `words`; freed with
 * jl_env_free. */
void jl_env_copy(struct jl_env *env, char *const *words);
void jl_env_free(struct jl_env *env);

/* The value of a variable; NULL: there is none.  It is gone with the next
 * change of that variable. */
const char *jl_env_get(const struct jl_env *env, const char *name);

/* Sets a variable; with value NULL, removes it. */
void jl_env_set(struct jl_env *env, const char *name, const char *value);

/* Sets the variable of an assignment, NAME=VALUE. */
void jl_env_assign(struct jl_env *env, const char *assignment);

#endif
