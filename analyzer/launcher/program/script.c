/* SPDX-License-Identifier: MIT
 *
 * Reads shell scripts that start a program (POSIX.1-2017, Shell Command
 * Language; and bash's arrays).  A script is not understood in full: a variable
 * has every value that is assigned to it anywhere.
 * Runs in: launcher. */
#include "script.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "launcher/os/check.h"
#include "script_words.h"

#define TEXT_MAX ((size_t)128 << 10) /* of a file */
#define FILES_MAX 4                  /* that a script reads with `.` */

int jl_is_shell(const char *name)
{
    static const char *const names[] = {"sh",  "bash", "dash", "ksh",
                                        "zsh", "ash",  "mksh", "ksh93"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

/* The text of a file, in which a backslash at a line's end joins it to the
 * next; allocated, "" where it cannot be read. */
static char *read_text(const char *path)
{
    char *text = jr_alloc(TEXT_MAX, 1), *to = text;

    jl_read_start(path, text, TEXT_MAX);
    for (const char *from = text; *from; from++) {
        if (from[0] == '\\' && from[1] == '\n') {
            from++;
            *to++ = ' ';
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return text;
}

/* Adds the values of a word to the programs.  (eval expands a word that has
 * variables again.) */
static void add_values(struct jl_script *script, const struct jl_span *word,
                       struct jl_script_programs *programs)
{
    struct jl_values values = {.count = 0};

    jl_script_values(script, word, &values);
    for (size_t i = 0, first = values.count; i < first; i++) {
        const struct jl_span again = {values.texts[i], strlen(values.texts[i])};

        if (values.texts[i][0] == '$')
            jl_script_values(script, &again, &values);
    }
    for (size_t i = 0; i < values.count; i++) {
        if (values.texts[i][0] && programs->count < JL_SCRIPT_PROGRAMS)
            programs->names[programs->count++] = values.texts[i];
        else
            free(values.texts[i]);
    }
}

static int is_word(const struct jl_span *word, const char *text)
{
    return word->length == strlen(text) &&
           memcmp(word->text, text, word->length) == 0;
}

static int is_any(const struct jl_span *word, const char *const *texts)
{
    for (; *texts; texts++)
        if (is_word(word, *texts))
            return 1;
    return 0;
}

/* Whether it is an assignment before a command. */
static int is_assignment(const struct jl_span *word)
{
    size_t name = jl_script_name_length(word->text, word->length);

    return name > 0 && name < word->length && word->text[name] == '=';
}

/* The first word from `at` on that is the name of a program: behind options,
 * assignments, and programs that start others. */
static size_t skip_to_program(const struct jl_span *words, size_t count,
                              size_t at)
{
    static const char *const starters[] = {
        "env",  "/usr/bin/env", "nohup",   "setsid",  "nice",
        "exec", "'''exec'",     "command", "builtin", NULL};

    for (; at < count; at++) {
        if (is_word(&words[at], "-a") || is_word(&words[at], "-n"))
            at++;
        else if (words[at].text[0] != '-' && !is_assignment(&words[at]) &&
                 !is_any(&words[at], starters))
            break;
    }
    return at;
}

/* Whether a command is given all of the script's arguments, or an array. */
static int passes_arguments(const struct jl_span *words, size_t count)
{
    static const char *const all[] = {"$@",          "\"$@\"", "$*",
                                      "\"$*\"",      "${@}",   "\"${@}\"",
                                      "${1+\"$@\"}", NULL};

    for (size_t i = 1; i < count; i++)
        if (is_any(&words[i], all) ||
            memmem(words[i].text, words[i].length, "[@]}", 4))
            return 1;
    return 0;
}

/* Finds the program of one command: behind exec wherever that stands in it (as
 * in `eval exec`), or its first word if it is given the script's arguments. */
static void take_command(struct jl_script *script, const struct jl_span *words,
                         size_t count, struct jl_script_programs *programs)
{
    static const char *const no_programs[] = {
        "set",    "eval", "shift",  "echo",   "for",
        "printf", ".",    "source", "return", NULL};
    static const char *const opening[] = {"if", "then",  "else", "elif", "do",
                                          "!",  "while", "{",    NULL};
    /* pip quotes it so that Python, too, can read the script. */
    static const char *const exec[] = {"exec", "'''exec'", NULL};
    size_t first = 0, at;

    while (first < count && is_any(&words[first], opening))
        first++;
    for (at = first; at < count && !is_any(&words[at], exec); at++)
        ;
    if (at == count && !passes_arguments(words + first, count - first))
        return;
    at = skip_to_program(words, count, at < count ? at : first);
    if (at < count && !is_any(&words[at], no_programs) &&
        !strchr("<>0123456789{&|;(", words[at].text[0]))
        add_values(script, &words[at], programs);
}

/* Goes through the commands of the script's own text. */
static void take_commands(struct jl_script *script, const char *text,
                          struct jl_script_programs *programs)
{
    struct jl_span words[JL_SCRIPT_WORDS];
    size_t count;

    while (programs->count < JL_SCRIPT_PROGRAMS &&
           (text = jl_script_command(text, words, &count)) != NULL)
        take_command(script, words, count, programs);
}

/* Adds the texts of files that the script reads, where they are beside it. */
static void read_sourced(struct jl_script *script)
{
    struct jl_span words[JL_SCRIPT_WORDS];
    const char *at = script->texts[0];
    size_t count;

    while (script->count < 1 + FILES_MAX &&
           (at = jl_script_command(at, words, &count)) != NULL) {
        struct jl_values values = {.count = 0};
        size_t i = 0;

        while (i + 1 < count && !is_word(&words[i], ".") &&
               !is_word(&words[i], "source"))
            i++;
        if (i + 1 < count)
            jl_script_values(script, &words[i + 1], &values);
        for (i = 0; i < values.count; i++) {
            char *path = jr_printf("%s/%s", script->folder,
                                   jr_base_name(values.texts[i]));

            if (script->count < 1 + FILES_MAX)
                script->texts[script->count++] = read_text(path);
            free(path);
            free(values.texts[i]);
        }
    }
}

void jl_script_programs(const char *path, const struct jl_env *env,
                        struct jl_script_programs *programs)
{
    struct jl_script script = {.path = path, .env = env, .count = 1};
    const char *base = jr_base_name(path);

    *programs = (struct jl_script_programs){.count = 0};
    script.folder = base > path + 1
                        ? jr_printf("%.*s", (int)(base - path) - 1, path)
                        : jr_strdup(base > path ? "/" : ".");
    script.texts[0] = read_text(path);
    read_sourced(&script);
    take_commands(&script, script.texts[0], programs);
    for (size_t i = 0; i < script.count; i++)
        free(script.texts[i]);
    free(script.folder);
}

void jl_script_programs_free(struct jl_script_programs *programs)
{
    for (size_t i = 0; i < programs->count; i++)
        free(programs->names[i]);
    programs->count = 0;
}
