/* SPDX-License-Identifier: MIT
 *
 * Reads the command line of `jprof run`: a row for each option.
 * Runs in: launcher. */
#include "options.h"

#include <string.h>

#include "jp_limits.h"
#include "say.h"

/* The CPU timers of the kernel run at its tick, 250 a second on Debian and
 * Ubuntu: a higher rate would ask for samples that do not come. */
#define PERIOD_NS 4000000ULL
#define MOST 1000000000000000000ULL /* 10^18 */
#define EVERY_NS 60000000000ULL
#define EVERY_LEAST_NS 1000000000ULL
#define EVERY_MOST_NS 3600000000000ULL
#define RING_BYTES (32ULL << 20)
#define RING_LEAST (1ULL << 20)

uint64_t jl_decimal(const char *text, unsigned digits)
{
    uint64_t number = 0;
    unsigned fraction = 0;
    int point = 0, any = 0;

    for (; *text; text++) {
        if (*text == '.' && !point) {
            point = 1;
            continue;
        }
        if (*text < '0' || *text > '9')
            return 0;
        any = 1;
        if (point && fraction == digits)
            continue; /* finer than a unit */
        fraction += (unsigned)point;
        number = number * 10 + (uint64_t)(*text - '0');
        if (number >= MOST)
            return 0;
    }
    for (; fraction < digits && number < MOST; fraction++)
        number *= 10;
    return any && number < MOST ? number : 0;
}

static int take_period(void *target, const char *name, const char *value)
{
    struct jl_options *options = target;
    uint64_t units;

    if (options->rate_option && options->rate_option != name[1])
        jl_usage("-F and -p exclude each other");
    options->rate_option = name[1];
    if (name[1] == 'F') {
        units = jl_decimal(value, 3);
        units = units ? 1000000000000ULL / units : 0;
    } else {
        units = jl_decimal(value, 9);
    }
    if (units < JP_PERIOD_MIN_NS || units > JP_PERIOD_MAX_NS)
        jl_usage("%s %s: not a number that gives a period of 0.0001 to 3600 s",
                 name, value);
    options->period_ns = units;
    return 0;
}

static int take_every(void *target, const char *name, const char *value)
{
    struct jl_options *options = target;

    options->every_ns = jl_decimal(value, 9);
    if (options->every_ns < EVERY_LEAST_NS || options->every_ns > EVERY_MOST_NS)
        jl_usage("%s: must be 1 to 3600 seconds", name);
    return 0;
}

static int take_ring(void *target, const char *name, const char *value)
{
    struct jl_options *options = target;

    options->ring_bytes = jl_size(value);
    if (options->ring_bytes < RING_LEAST)
        jl_usage("%s: must be a size of at least %dM", name,
                 (int)(RING_LEAST >> 20));
    return 0;
}

static const char *const jit_kinds[] = {
    [JL_JIT_OFF] = "off", [JL_JIT_MAP] = "map", [JL_JIT_DUMP] = "dump", NULL};

const char *const jl_jit_details[] = {[JL_DETAIL_FUNCTIONS] = "func",
                                      [JL_DETAIL_SOURCES] = "src",
                                      [JL_DETAIL_OPERATIONS] = "ir",
                                      [JL_DETAIL_OPERANDS] = "ir-ops",
                                      NULL};

const char *const jl_viewers[] = {[JL_VIEWER_PPROF] = "pprof",
                                  [JL_VIEWER_FIREFOX] = "firefox",
                                  [JL_VIEWER_SPEEDSCOPE] = "speedscope",
                                  NULL};

/* The parts of rows below. */
#define FLAG(field) JR_FLAG(struct jl_options, field)
#define TEXT(field) JR_TEXT(struct jl_options, field)
#define CHOICE(field, words) JR_CHOICE(struct jl_options, field, words)

static const struct jr_option rows[] = {
    {'F', NULL, "HZ", JR_VALUE(take_period),
     .help = "samples a second of CPU time (default 250)"},
    {'p', NULL, "SECONDS", JR_VALUE(take_period),
     .help = "the same as a period (default 0.004)"},
    {0, "--wall", NULL, FLAG(wall),
     .help = "sample real time, waiting included"},
    {'o', NULL, "DIR", TEXT(out),
     .help = "the folder to write to: a new or an empty one"},
    {0, "--public", NULL, FLAG(is_public),
     .help = "let others read the report"},
    {0, "--no-args", NULL, FLAG(no_args),
     .help = "leave the arguments of commands out"},
    {0, "--jit", "KIND", CHOICE(jit, jit_kinds), .joined = 1,
     .help = "what to ask the program's runtime for, if jprof knows it: map, "
             "names of its JIT code (the default); dump, source lines and "
             "machine code too; off, nothing"},
    {0, "--jit-detail", "KIND", CHOICE(detail, jl_jit_details), .joined = 1,
     .help = "how much a SpiderMonkey says: func, src (the default), ir, "
             "ir-ops"},
    {0, "--view", NULL, FLAG(view),
     .help = "open the report in a browser when the program has ended"},
    {0, "--with", "VIEWER", CHOICE(viewer, jl_viewers), .joined = 1,
     .help = "open the profile in pprof, firefox or speedscope instead, as "
             "view does"},
    {0, "--push", "URL", TEXT(push), .joined = 1,
     .help = "send the profile there while it is made, with the options of "
             "push"},
    {0, "--every", "SECONDS", JR_VALUE(take_every), .joined = 1,
     .help = "seconds between two messages of --push=URL (default 60)"},
    {0, "--ring", "SIZE", JR_VALUE(take_ring), .joined = 1,
     .help = "size of the ring of each process with --push=URL (default 32M)"},
};

#define NROWS (sizeof rows / sizeof *rows)

static void print_rows(void)
{
    jr_option_help(stdout, rows, NROWS);
}

const struct jl_help jl_run_help = {
    .usage =
        "jprof [run] [-F HZ | -p SECONDS] [--wall] [-o DIR] [--public]\n"
        "             [--no-args] [--jit=off|map|dump]\n"
        "             [--jit-detail=func|src|ir|ir-ops] [--view]\n"
        "             [--with=VIEWER] [--] [NAME=VALUE...] PROGRAM [ARG...]\n",
    .text =
        "run (the default) runs PROGRAM, takes samples of the stacks of all "
        "its threads\n"
        "and child processes, and writes log, map and report.html into one new "
        "folder,\n"
        "jprof-PROGRAM-DATE-PID, which nobody else can read. Each NAME=VALUE "
        "is a\n"
        "variable of PROGRAM's environment.\n",
    .options = print_rows,
};

enum jr_word jl_option_next(const struct jl_help *help,
                            struct jr_command_line *line,
                            const struct jr_option_table *tables,
                            size_t ntables)
{
    enum jr_word word;

    if (!line->no_options && jl_help_is(*line->words))
        jl_help_show(help);
    word = jr_option_next(line, tables, ntables);
    if (word == JR_WORD_WRONG)
        jl_usage_hint();
    return word;
}

/* Whether the word is NAME=VALUE with a name that a shell accepts: letters,
 * digits and _, no digit first (POSIX.1-2017, XBD 3.235). */
static int is_assignment(const char *word)
{
    size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz"
                                 "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

    return length > 0 && !(word[0] >= '0' && word[0] <= '9') &&
           word[length] == '=';
}

/* Takes the words behind the options. */
static void take_program(struct jl_options *options, char **words)
{
    options->variables = words;
    while (*words && is_assignment(*words))
        words++;
    if (!*words)
        jl_usage("no program given behind %s", words[-1]);
    options->nvariables = (size_t)(words - options->variables);
    options->program = words;
}

void jl_options_parse(char **words, struct jl_options *options)
{
    struct jr_command_line line = {.words = words};
    const struct jr_option_table tables[] = {
        jl_destination_options(&options->to), {rows, NROWS, options}};
    enum jr_word word;

    *options = (struct jl_options){.period_ns = PERIOD_NS,
                                   .jit = JL_JIT_MAP,
                                   .detail = JL_DETAIL_SOURCES,
                                   .viewer = JL_VIEWER_REPORT,
                                   .every_ns = EVERY_NS,
                                   .ring_bytes = RING_BYTES};
    jl_destination_init(&options->to);
    do
        word = jl_option_next(&jl_run_help, &line, tables, 2);
    while (word == JR_WORD_OPTION);
    if (word == JR_WORD_END)
        jl_usage("no program given");
    take_program(options, line.words - 1);
    options->view |= options->viewer != JL_VIEWER_REPORT;
    if (options->push)
        jl_destination_check(&options->to, options->push);
}
