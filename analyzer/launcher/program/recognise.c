/* SPDX-License-Identifier: MIT
 *
 * Which runtime a command line starts.
 * Runs in: launcher. */
#include "recognise.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/os/check.h"
#include "launcher/os/place.h"

/* how many scripts and envs are followed one after the other */
#define TURNS 5
#define LINE_SIZE 1024 /* of a script's first line */
#define WORDS_MAX 64   /* of it */

/* By the name of the file that it is a link to (js may be node, python3
 * python3.11), then by its own, then by what lies beside it. */
static const struct jl_runtime *match_file(const char *path, char **file)
{
    const struct jl_runtime *found;
    char *config;

    *file = realpath(path, NULL);
    if (!*file)
        *file = jr_strdup(path);
    found = jl_runtime_named(jr_base_name(*file));
    if (!found)
        found = jl_runtime_named(jr_base_name(path));
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

/* Whether the option is one of env, setsid or nice that has no bearing on
 * which program is started.  *more: its value is the next word. */
static int is_harmless(const char *word, int *more)
{
    static const char *const known[] = {
        "--unset=",        "--debug",
        "--ignore-signal", "--default-signal",
        "--block-signal",  "--list-signal-handling",
        "--adjustment=",   "--ctty",
        "--fork",          "--wait"};

    *more = strcmp(word, "-u") == 0 || strcmp(word, "-n") == 0;
    if (word[1] == 'u' || word[1] == 'n')
        return 1;
    if (word[1] != '-')
        return word[1] && !word[1 + strspn(word + 1, "vcfw0123456789")];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(word, known[i], strlen(known[i])) == 0)
            return 1;
    return word[2] == '\0';
}

static int changes_path(const char *word)
{
    return strcmp(word, "PATH") == 0 || strcmp(word, "-uPATH") == 0 ||
           strcmp(word, "--unset=PATH") == 0 || strncmp(word, "PATH=", 5) == 0;
}

/* The words until the program that env, nohup, setsid or nice starts; all of
 * them where it may be another than the one of that name here: in another
 * folder (env -C), by another PATH or none (env -i, which leaves nothing to
 * ask by either), or out of one word (env -S). */
static size_t skip_options(const char *starter, char *const *words)
{
    int sets = strcmp(starter, "env") == 0, more;
    size_t count = 1;

    for (; words[count]; count++) {
        if (words[count][0] == '-') {
            if (!is_harmless(words[count], &more))
                break;
            count += more && words[count + 1];
        } else if (!sets || !strchr(words[count], '=')) {
            return count;
        }
        if (sets && changes_path(words[count]))
            break;
    }
    while (words[count])
        count++;
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

/* The words of a script's first line, without the -S that makes them several
 * for env; 0: it is no script, or env -S takes them for others, by ${NAME},
 * quotes, backslashes or a comment. */
static size_t script_words(const char *path, char *line, size_t size,
                           char **words)
{
    size_t count = 0;
    char *rest = line + 2, *word;

    jl_read_start(path, line, size);
    if (strncmp(line, "#!", 2) != 0)
        return 0;
    line[strcspn(line, "\n")] = '\0';
    if (strstr(line, "-S") && strpbrk(line + 2, "$'\"\\#"))
        return 0;
    while (count < WORDS_MAX && (word = strsep(&rest, " \t\r")))
        if (*word && (count != 1 || strcmp(word, "-S") != 0))
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
        if (starts_others(jr_base_name(name))) {
            argv += skip_options(jr_base_name(name), argv);
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
