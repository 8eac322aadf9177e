/* SPDX-License-Identifier: MIT
 *
 * The command line of `jprof run`.
 * Runs in: launcher. */
#ifndef JL_OPTIONS_H
#define JL_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/option.h"
#include "destination.h"
#include "help.h"

enum jl_jit { JL_JIT_OFF, JL_JIT_MAP, JL_JIT_DUMP };

/* How much SpiderMonkey writes of a function. */
enum jl_detail {
    JL_DETAIL_FUNCTIONS,
    JL_DETAIL_SOURCES,
    JL_DETAIL_OPERATIONS,
    JL_DETAIL_OPERANDS
};

/* By enum jl_detail: the word for the runtime; ends with a NULL. */
extern const char *const jl_jit_details[];

/* The programs that open a profile. */
enum jl_viewer {
    JL_VIEWER_PPROF,
    JL_VIEWER_FIREFOX,
    JL_VIEWER_SPEEDSCOPE,
    JL_VIEWER_REPORT /* the report itself, in a browser */
};

/* By enum jl_viewer: the word of --with, but of the last one, which is the
 * default; ends with a NULL. */
extern const char *const jl_viewers[];

struct jl_options {
    uint64_t period_ns;
    const char *out;  /* -o; NULL: a new folder of jprof's own naming */
    char rate_option; /* F or p, once it was given */
    uint8_t jit;      /* enum jl_jit */
    uint8_t detail;   /* enum jl_detail */
    uint8_t wall;
    uint8_t is_public;   /* others may read the folder and the report */
    uint8_t no_args;     /* command lines are left out */
    const char *push;    /* the URL of --push; NULL */
    uint64_t every_ns;   /* between two pushes */
    uint64_t ring_bytes; /* of a process's log with --push */
    struct jl_destination to;
    uint8_t view;     /* the profile is opened at the end */
    uint8_t viewer;   /* enum jl_viewer */
    char **variables; /* NAME=VALUE, `nvariables` words, before the program */
    size_t nvariables;
    char **program; /* its name and arguments; a NULL behind them */
};

/* Reads the arguments behind `jprof` or `jprof run`, up to a NULL; what is
 * wrong with them is said and ends the launcher. */
void jl_options_parse(char **words, struct jl_options *options);

extern const struct jl_help jl_run_help;

/* jr_option_next, but a wrong option ends the launcher, and so does --help,
 * which prints *help. */
enum jr_word jl_option_next(const struct jl_help *help,
                            struct jr_command_line *line,
                            const struct jr_option_table *tables,
                            size_t ntables);

/* `text`, a decimal number that may have a fraction, times 10^digits, rounded;
 * 0 when it is no number or does not fit into 18 digits. */
uint64_t jl_decimal(const char *text, unsigned digits);

#endif
