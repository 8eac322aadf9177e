/* SPDX-License-Identifier: MIT
 *
 * Commands of a shell script, and what their words may stand for.
 * Runs in: launcher. */
#ifndef JL_SCRIPT_WORDS_H
#define JL_SCRIPT_WORDS_H

#include <stddef.h>

#include "launcher/os/environ.h"

#define JL_SCRIPT_WORDS 64 /* of a command; further ones are left out */
#define JL_SCRIPT_VALUES 8 /* of a word */
#define JL_SCRIPT_TEXTS 5

struct jl_script {
    const char *path;
    const struct jl_env *env;     /* of the program */
    char *folder;                 /* in which it is */
    char *texts[JL_SCRIPT_TEXTS]; /* its own first; others may assign, too */
    size_t count;
    unsigned lookups; /* of variables, so far */
};

/* Bytes of a text, without a NUL at their end. */
struct jl_span {
    const char *text;
    size_t length;
};

struct jl_values {
    char *texts[JL_SCRIPT_VALUES]; /* allocated */
    size_t count;
};

/* Splits the next command of a text into words, with their quotes.  Returns
 * where the one after it begins; NULL: there was none.  A quote may go on over
 * several lines, but each line is looked at: an apostrophe in a text that
 * the script has for a command's input is no quote. */
const char *jl_script_command(const char *text, struct jl_span *words,
                              size_t *count);

/* How many bytes at the beginning are a variable's name. */
size_t jl_script_name_length(const char *text, size_t length);

/* Adds what a word may stand for, without quotes.  Of a substituted command it
 * is the command's last word (`which java`), or the script's folder where it
 * has dirname or pwd in it; of a variable each value that is assigned to it. */
void jl_script_values(struct jl_script *script, const struct jl_span *word,
                      struct jl_values *values);

#endif
