/* SPDX-License-Identifier: MIT
 *
 * Leaves words out of what a runtime is asked.
 * Runs in: launcher. */
#include "exclude.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "launcher/base/say.h"
#include "version.h"

/* Whether a word of `list` is one of the options. */
static int has_option(const char *list, char separator, const char *options)
{
    const char between[] = {separator, '\0'};
    char *copy = jr_strdup(list), *rest = copy, *word;
    int found = 0;

    while (!found && (word = strsep(&rest, between)))
        found = jl_is_one_of(options, word);
    free(copy);
    return found;
}

int jl_is_used(const char *options, char *const *args,
               const struct jl_setup *setup, const struct jl_env *env)
{
    for (; *args; args++)
        if (jl_is_one_of(options, *args))
            return 1;
    for (size_t i = 0; i < JL_SETTINGS && setup->settings[i].variable; i++) {
        const struct jl_setting *setting = &setup->settings[i];
        const char *list = jl_env_get(env, setting->variable);

        if (list && has_option(list, setting->separator, options))
            return 1;
    }
    return 0;
}

int jl_excludes_by_version(const struct jl_runtime *runtime)
{
    for (size_t i = 0; i < JL_EXCLUSIONS && runtime->excluded[i].why; i++)
        if (runtime->excluded[i].from.major || runtime->excluded[i].until.major)
            return 1;
    return 0;
}

/* Whether a runtime of this version has the fault; -1: it is not known. */
static int has_fault(const struct jl_exclusion *exclusion,
                     struct jl_version version)
{
    if (!exclusion->from.major && !exclusion->until.major)
        return 1;
    if (!version.major && !version.minor)
        return -1;
    return jl_version_is_from(version, exclusion->from) &&
           (!exclusion->until.major ||
            !jl_version_is_from(version, exclusion->until));
}

/* Takes the word out of the setting, unless the user's value has it.  Returns
 * whether it did. */
static int take_out(struct jl_setting *setting, const char *word,
                    const struct jl_env *env)
{
    const char *had = jl_env_get(env, setting->variable);
    size_t kept = 0, taken = 0;

    for (size_t i = 0; i < JL_WORDS && setting->words[i]; i++) {
        if (strcmp(setting->words[i], word) == 0 && !(had && strstr(had, word)))
            taken++;
        else
            setting->words[kept++] = setting->words[i];
    }
    if (kept < JL_WORDS)
        setting->words[kept] = NULL;
    return taken > 0;
}

const char *jl_exclude(struct jl_setup *setup, const struct jl_runtime *runtime,
                       struct jl_version version, char *const *args,
                       const struct jl_env *env)
{
    for (size_t i = 0; i < JL_EXCLUSIONS && runtime->excluded[i].why; i++) {
        const struct jl_exclusion *exclusion = &runtime->excluded[i];
        int used = !exclusion->options ||
                   jl_is_used(exclusion->options, args, setup, env);
        int fault = has_fault(exclusion, version), taken = 0;

        if (!used || !fault || (fault < 0 && !exclusion->options))
            continue;
        if (!exclusion->word)
            return exclusion->why;
        for (size_t j = 0; j < JL_SETTINGS && setup->settings[j].variable; j++)
            taken |= take_out(&setup->settings[j], exclusion->word, env);
        if (taken)
            jr_say("%s: %s is left out: %s", runtime->name, exclusion->word,
                   exclusion->why);
    }
    return NULL;
}
