/* SPDX-License-Identifier: MIT
 *
 * Reads and compares versions, and asks a runtime for its own.
 * Runs in: launcher. */
#include "version.h"

#include <string.h>

#include "base/file.h"
#include "launcher/os/spawn.h"

#define SECONDS 10
#define PRINTED_SIZE 256

/* A number of a version; digits behind the sixth are passed over. */
static const char *number(const char *at, unsigned *value)
{
    *value = 0;
    for (unsigned digits = 0; *at >= '0' && *at <= '9'; at++, digits++)
        if (digits < 6)
            *value = *value * 10 + (unsigned)(*at - '0');
    return at;
}

int jl_version_read(const char *text, const char *before,
                    struct jl_version *version)
{
    const char *at;

    if (strncmp(text, before, strlen(before)) != 0)
        return -1;
    text += strlen(before);
    at = number(text, &version->major);
    if (at == text || *at != '.')
        return -1;
    text = at + 1;
    return number(text, &version->minor) == text ? -1 : 0;
}

int jl_version_is_from(struct jl_version version, struct jl_version bound)
{
    return version.major > bound.major ||
           (version.major == bound.major && version.minor >= bound.minor);
}

struct jl_version jl_version_learn(const struct jl_runtime *runtime,
                                   const char *file, const struct jl_env *env)
{
    /* Some are scripts that choose a runtime by the name they have. */
    char *const argv[] = {
        (char *)(runtime->trial[0] ? runtime->trial[0] : file),
        (char *)runtime->version.argument, NULL};
    char printed[PRINTED_SIZE] = "";
    struct jl_version version = {0};
    struct jl_spawn spawn = {.path = file,
                             .argv = argv,
                             .env = env->words,
                             .seconds = SECONDS,
                             .printed = printed,
                             .size = sizeof printed};

    if (jl_version_read(jr_base_name(file), runtime->version.name, &version) !=
            0 &&
        (jl_spawn(&spawn) < 0 ||
         jl_version_read(printed, runtime->version.printed, &version) != 0))
        version = (struct jl_version){0};
    return version;
}
