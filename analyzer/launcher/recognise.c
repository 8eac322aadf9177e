/* SPDX-License-Identifier: MIT
 *
 * Which runtime a command line starts.
 * Runs in: launcher. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/mem.h"
#include "check.h"
#include "place.h"
#include "runtimes.h"

#define TURNS 5             /* scripts and env lead on so often */
#define LINE_SIZE 1024      /* of a script's first line */
#define WORDS_MAX 64        /* of it */

/* By the name of the file that it is a link to (js may be node, python3
 * python3.11), then by its own, then by what lies beside it. */
static const struct jl_runtime *match_file(const char *path, char **file)
{
    const struct jl_runtime *found;
    char *config;

    *file = realpath(path, NULL);
    if (!*file)
        *file = jr_strdup(path);
    found = jl_runtime_named(jl_base_name(*file));
    if (!found)
        found = jl_runtime_named(jl_base_name(path));
    config = jr_printf("%s.runtimeconfig.json", *file);
    if (!found && access(config, F_OK) == 0)
        found = jl_runtime_named("dotnet");
    free(config);
    if (!found) {
        free(*file);
        *file = NULL;
    }
    return found;
}

/* The words until the program that env, nohup, setsid or nice starts. */
static size_t skip_options(char *const *words)
{
    size_t count = 1;

    for (; words[count]; count++) {
        const char *word = words[count];

        if (strcmp(word, "-u") == 0 || strcmp(word, "-C") == 0 ||
            strcmp(word, "-n") == 0)
            count += words[count + 1] != NULL; /* its value */
        else if (word[0] != '-' && !strchr(word, '='))
            break;
    }
    return count;
}

static int starts_others(const char *name)
{
    static const char *const names[] = {"env", "nohup", "setsid", "nice"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

/* The words of a script's first line; 0: it is no script. */
static size_t script_words(const char *path, char *line, size_t size,
                           char **words)
{
    size_t count = 0;
    char *rest = line + 2, *word;

    jl_read_start(path, line, size);
    if (strncmp(line, "#!", 2) != 0)
        return 0;
    line[strcspn(line, "\n")] = '\0';
    while (count < WORDS_MAX && (word = strsep(&rest, " \t\r")))
        if (*word)
            words[count++] = word;
    words[count] = NULL;
    return count;
}

const struct jl_runtime *jl_recognise(const char *path, char *const *argv,
                                      char **file)
{
    char line[LINE_SIZE], *words[WORDS_MAX + 1], *held = NULL;
    const struct jl_runtime *found = NULL;
    const char *name = path;

    *file = NULL;
    for (int turn = 0; turn < TURNS; turn++) {
        char *place = jl_find_command(name);

        if (!place)
            break;
        free(held);
        held = place;
        found = match_file(place, file);
        if (found)
            break;
        if (starts_others(jl_base_name(name))) {
            argv += skip_options(argv);
        } else {
            if (script_words(place, line, sizeof line, words) == 0)
                break;
            argv = words;
        }
        if (!*argv)
            break;
        name = *argv;
    }
    free(held);
    return found;
}
