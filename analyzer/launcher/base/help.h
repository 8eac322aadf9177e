/* SPDX-License-Identifier: MIT
 *
 * The help of a command.
 * Runs in: launcher. */
#ifndef JL_HELP_H
#define JL_HELP_H

struct jl_help {
    const char *usage;     /* the lines behind "Usage: ", blanks before them
                              from the second one on */
    const char *text;      /* lines that describe the command */
    void (*options)(void); /* prints the rows of the options; NULL: none */
};

/* Whether the option, which may be NULL, is --help or -h. */
int jl_help_is(const char *option);

/* Prints the text and the options. */
void jl_help_text(const struct jl_help *help);

/* Prints the usage, the text and the options, and ends the launcher. */
void jl_help_show(const struct jl_help *help) __attribute__((noreturn));

/* Writes out stdout; a failure ends the launcher. */
void jl_help_flush(void);

#endif
