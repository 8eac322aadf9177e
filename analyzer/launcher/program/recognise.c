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
#include "script.h"

/* how many scripts and envs are followed one after the other */
#define TURNS 5
#define LINE_SIZE 1024 /* of a script's first line */
#define WORDS_MAX 64   /* of it */
#define LOOKED_MAX 64U /* programs, those of scripts included */

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

/* Whether a script's first line names a shell, by itself or through env. */
static int is_shells(char *const *words, size_t count)
{
    const char *name = jr_base_name(words[0]);

    return jl_is_shell(name) || (count > 1 && strcmp(name, "env") == 0 &&
                                 jl_is_shell(jr_base_name(words[1])));
}

/* How far programs are followed: each that a script starts may be a script. */
struct search {
    const struct jl_env *env; /* of the program */
    char **file;
    unsigned looked; /* at so many programs */
};

static const struct jl_runtime *follow(struct search *search, const char *name,
                                       char *const *argv, int turns);

/* Follows what a shell script gives its place to: a program of its folder, or
 * of PATH, or one that is not there but has a runtime's name. */
static const struct jl_runtime *follow_script(struct search *search,
                                              const char *path, int turns)
{
    static char *const none[] = {NULL};
    const struct jl_runtime *found = NULL;
    struct jl_script_programs programs;

    jl_script_programs(path, search->env, &programs);
    for (size_t i = 0; i < programs.count && !found; i++) {
        const char *name = programs.names[i], *base = jr_base_name(name);

        found =
            follow(search, access(name, X_OK) == 0 ? name : base, none, turns);
        if (!found && (found = jl_runtime_named(base)) != NULL)
            *search->file = jr_strdup(name);
    }
    jl_script_programs_free(&programs);
    return found;
}

static const struct jl_runtime *follow(struct search *search, const char *name,
                                       char *const *argv, int turns)
{
    char line[LINE_SIZE], *words[WORDS_MAX + 1];
    char *place = jl_find_in(jl_env_get(search->env, "PATH"), name);
    const struct jl_runtime *found = NULL;
    size_t count;

    if (!place || turns == 0 || search->looked++ >= LOOKED_MAX) {
        free(place);
        return NULL;
    }
    found = match_file(place, search->file);
    if (!found && starts_others(jr_base_name(name))) {
        argv += skip_options(jr_base_name(name), argv);
        if (*argv)
            found = follow(search, *argv, argv, turns - 1);
    } else if (!found && jl_is_shell(jr_base_name(name))) {
        if (argv[0] && argv[1] && argv[1][0] != '-')
            found = follow_script(search, argv[1], turns - 1);
    } else if (!found) {
        count = script_words(place, line, sizeof line, words);
        if (count && is_shells(words, count))
            found = follow_script(search, place, turns - 1);
        else if (count)
            found = follow(search, words[0], words, turns - 1);
    }
    free(place);
    return found;
}

const struct jl_runtime *jl_recognise(const char *path, char *const *argv,
                                      const struct jl_env *env, char **file)
{
    struct search search = {.env = env, .file = file};

    *file = NULL;
    return follow(&search, path, argv, TURNS);
}
