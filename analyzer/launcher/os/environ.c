/* SPDX-License-Identifier: MIT
 *
 * Lists of NAME=VALUE.
 * Runs in: launcher. */
#include "environ.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void put(struct jl_env *env, char *word)
{
    *JR_PUSH(env->words, env->count, env->room) = word;
    *JR_PUSH(env->words, env->count, env->room) = NULL;
    env->count--;
}

void jl_env_copy(struct jl_env *env, char *const *words)
{
    *env = (struct jl_env){0};
    env->words = jr_alloc(1, sizeof *env->words);
    env->room = 1;
    for (; *words; words++)
        put(env, jr_strdup(*words));
}

void jl_env_free(struct jl_env *env)
{
    for (size_t i = 0; i < env->count; i++)
        free(env->words[i]);
    free(env->words);
    *env = (struct jl_env){0};
}

/* Where the value is in NAME=VALUE; NULL when it is another variable. */
static char *value_in(char *word, const char *name)
{
    size_t length = strlen(name);

    return strncmp(word, name, length) == 0 && word[length] == '='
               ? word + length + 1
               : NULL;
}

const char *jl_env_get(const struct jl_env *env, const char *name)
{
    for (size_t i = 0; i < env->count; i++)
        if (value_in(env->words[i], name))
            return value_in(env->words[i], name);
    return NULL;
}

void jl_env_set(struct jl_env *env, const char *name, const char *value)
{
    char *word = value ? jr_printf("%s=%s", name, value) : NULL;
    size_t kept = 0;

    for (size_t i = 0; i < env->count; i++) {
        if (value_in(env->words[i], name))
            free(env->words[i]);
        else
            env->words[kept++] = env->words[i];
    }
    env->count = kept;
    env->words[kept] = NULL;
    if (word)
        put(env, word);
}

void jl_env_assign(struct jl_env *env, const char *assignment)
{
    size_t length = strcspn(assignment, "=");
    char *name = jr_printf("%.*s", (int)length, assignment);

    jl_env_set(env, name, assignment + length + 1);
    free(name);
}
