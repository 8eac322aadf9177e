/* SPDX-License-Identifier: MIT
 *
 * The command line of jprof-report: a row for each option.
 * Runs in: analyzer. */
#include "options_parse.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "base/option.h"
#include "formats.h"
#include "options_filter.h"
#include "profile.h"
#include "values.h"

static int take_debug_dir(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;
    struct jr_debug_folders *folders = &options->symbols.folders;

    if (*value == '\0') {
        jr_say("%s: must name a folder", name);
        return -1;
    }
    *JR_PUSH(folders->items, folders->count, folders->room) = value;
    return 0;
}

static int take_source_map(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;
    const char *equals = strchr(value, '=');

    if (!equals || equals == value || !equals[1]) {
        jr_say("%s %s: must be FROM=TO, two folders", name, value);
        return -1;
    }
    *JR_PUSH(options->maps, options->nmaps, options->maps_room) =
        (struct jr_source_map){jr_strndup(value, (size_t)(equals - value)),
                               equals + 1};
    return 0;
}

static int take_per(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;

    options->per = 1;
    return jr_value_units(name, value, &options->units[JR_BEFORE],
                          &options->units[JR_AFTER]);
}

static int take_limit(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;

    options->limit = JR_NO_LIMIT;
    return strcmp(value, "none") == 0
               ? 0
               : jr_value_number(name, value, 1, &options->limit);
}

static void select_cleo(void *target)
{
    ((struct jr_options *)target)->format = "cleo";
}

/* The parts of rows below. */
#define FLAG(field) JR_FLAG(struct jr_options, field)
#define TEXT(field) JR_TEXT(struct jr_options, field)
#define CHOICE(field, words) JR_CHOICE(struct jr_options, field, words)
#define LIST(field, count, room) JR_LIST(struct jr_options, field, count, room)

static const struct jr_option rows[] = {
    {'e', NULL, "NAME",
     LIST(filter.exclude, filter.nexclude, filter.exclude_room),
     .help = "drop stacks that hold function NAME"},
    {'i', NULL, "NAME",
     LIST(filter.include, filter.ninclude, filter.include_room),
     .help = "keep only stacks that hold NAME"},
    {'s', NULL, "DEPTH", JR_VALUE(jr_take_depth),
     .help = "keep the DEPTH leaf-most frames (>= 2)"},
    {'t', "--threads", NULL, FLAG(filter.by_thread),
     .help = "the total, then each thread"},
    {0, "--only-thread", "TID", JR_VALUE(jr_take_only_thread),
     .help = "only this thread"},
    {0, "--all", NULL, JR_ACTION(jr_select_all_sections),
     .help = "all sections (default)"},
    {0, "--last", NULL, FLAG(filter.last), .help = "only the last section"},
    {0, "--start", "N", JR_VALUE(jr_take_start),
     .help = "sections from N on, counted from 0"},
    {0, "--end", "M", JR_VALUE(jr_take_end), .help = "sections before M"},
    {0, "--process", "WHICH",
     LIST(filter.process, filter.nprocess, filter.process_room),
     .help = "only processes of this pid, program, or command by a "
             "shell pattern"},
    {0, "--from", "SECONDS", JR_VALUE(jr_take_from),
     .help = "from so long after the profile's start on; @SECONDS: of "
             "CLOCK_MONOTONIC"},
    {0, "--to", "SECONDS", JR_VALUE(jr_take_to),
     .help = "until so long after the profile's start"},
    {0, "--span", "NAME", LIST(filter.spans, filter.nspans, filter.spans_room),
     .help = "only time of threads in their spans of this name "
             "(jprof_span_begin)"},
    {0, "--event", "WHAT", JR_VALUE(jr_take_event),
     .help = "only time of this kind: cpu, running, blocked, ready "
             "(waiting for a CPU), raised"},
    {0, "--interpreter-frames", NULL, FLAG(filter.interpreter),
     .help = "show the interpreter's code that runs scripts' functions"},
    {0, "--split-events", NULL, FLAG(filter.split),
     .help = "end each stack in the kind of its time"},
    {0, "--jit-tiers", "HOW", CHOICE(filter.tiers, jr_tier_choices),
     .help = "JIT functions: merge their tiers (default), split, raw"},
    {0, "--debug-dir", "DIR", JR_VALUE(take_debug_dir),
     .help = "look for debug files there too, or for a system's root"},
    {0, "--debuginfod", NULL, FLAG(debuginfod),
     .help = "ask the servers of DEBUGINFOD_URLS for debug files"},
    {0, "--source-dir", "DIR", LIST(sources, nsources, sources_room),
     .help = "read sources there too, if the profile names them"},
    {0, "--source-map", "FROM=TO", JR_VALUE(take_source_map),
     .help = "sources that were below FROM are below TO now"},
    {0, "--no-inline", NULL, FLAG(symbols.no_inline),
     .help = "count inlined functions as part of their callers"},
    {0, "--annotate", "NAME", LIST(annotate, nannotate, annotate_room),
     .help = "list source lines and machine code of function NAME"},
    {0, "--merge", NULL, FLAG(merge), .help = "all logs in one report"},
    {0, "--diff", "BEFORE", TEXT(before),
     .help = "compare with this folder or log; html or text"},
    {0, "--per", "N[,M]", JR_VALUE(take_per),
     .help = "compare time a unit of work: N before, M (or N) after"},
    {0, "--limit", "N", JR_VALUE(take_limit),
     .help = "functions that each process or thread shows beside the "
             "total; none: everything of each"},
    {0, "--format", "FORMAT", TEXT(format), .help = "one of the formats below"},
    {0, "--cleo", NULL, JR_ACTION(select_cleo),
     .help = "the same as --format=cleo"},
    {'o', NULL, "FILE", TEXT(output),
     .help = "write to FILE instead of stdout"},
    {0, "--output-dir", "DIR", TEXT(output_dir),
     .help = "write DIR/LOG.html for each LOG"},
    {0, "--profile", NULL, FLAG(profile),
     .help = "the first operand, too, is a folder or log (jprof report)"},
    {0, "--unmask", NULL, FLAG(unmasked),
     .help = "show passwords in command lines as they are"},
    {'v', NULL, NULL, FLAG(verbose),
     .help = "say on stderr what is read and found"},
    {'h', "--help", NULL, FLAG(help), .help = "show this help"},
    {0, "--version", NULL, FLAG(version), .help = "show the version"},
};

#define NROWS (sizeof(rows) / sizeof(rows[0]))

void jr_options_help(FILE *out)
{
    fputs("Usage: jprof-report [OPTION]... PROGRAM LOG [LOG]...\n"
          "       jprof-report [OPTION]... [PROGRAM] DIR|LOG...\n"
          "Turns the logs that libjprof.so wrote into reports.  One log, or "
          "several with\n--merge, goes to stdout; else each LOG to LOG.html "
          "beside it.  A folder stands\nfor all logs in it, and they become "
          "one report, as they do where no program\nis named.\n\n",
          out);
    jr_option_help(out, rows, NROWS);
    fputs("\nFormats:\n", out);
    for (const struct jr_format *format = jr_formats; format->name; format++)
        fprintf(out, "  %-20s %s\n", format->name, format->help);
    fputs("\nExit status: 0 complete, 1 partial (stderr says why), 2 failed, "
          "64 usage.\n",
          out);
}

/* Returns what is wrong with the format and --annotate, allocated, or NULL. */
static char *check_format(const struct jr_options *options)
{
    const struct jr_format *format = jr_format_find(options->format);
    char *names, *wrong = NULL;

    if (format == NULL) {
        names = jr_format_names(0);
        wrong = jr_printf("--format %s: no such format; there are %s",
                          options->format, names);
        free(names);
    } else if (options->nannotate == 0 &&
               format->annotate == JR_ANNOTATE_MUST) {
        wrong = jr_printf("--format=%s needs --annotate=NAME", format->name);
    } else if (options->nannotate > 0 && format->annotate == JR_ANNOTATE_NO) {
        names = jr_format_names(1);
        wrong = jr_printf("--annotate goes with these formats only: %s", names);
        free(names);
    }
    return wrong;
}

/* Whether an option selects a part of the samples or of the functions. */
static int has_filter(const struct jr_options *options)
{
    const struct jr_filter *filter = &options->filter;

    return filter->ninclude || filter->nexclude || filter->nspans ||
           filter->nprocess || filter->tid || filter->last || filter->start ||
           filter->end != UINT64_MAX || filter->from_ns || filter->has_to ||
           filter->events || filter->depth || options->symbols.no_inline;
}

/* Refuses options that contradict each other. */
static int check(const struct jr_options *options)
{
    const char *wrong = NULL;
    char *format = check_format(options);

    if (format) {
        jr_say("%s", format);
        free(format);
        return -1;
    }
    if (options->app == NULL && options->nlogs == 0)
        wrong = "no program and no log given";
    else if (options->nlogs == 0)
        wrong = jr_profile_is_unknown(options->app)
                    ? "no log given: the file is no profile that is known by "
                      "its content"
                    : "no log given (the program comes first, then the logs)";
    else if (options->filter.last && options->has_section)
        wrong = "--last and --start or --end exclude each other";
    else if (options->filter.start >= options->filter.end)
        wrong = "--end must be greater than --start";
    else if (options->filter.has_to &&
             options->filter.from_ns >= options->filter.to_ns)
        wrong = "--to must be greater than --from";
    else if (options->clocks == 3)
        wrong = "--from and --to: either both with @ or none";
    else if (options->output && options->output_dir)
        wrong = "-o and --output-dir exclude each other";
    else if (options->output && options->nlogs > 1 && !options->merge)
        wrong = "-o with several logs needs --merge";
    else if (options->before && options->output_dir)
        wrong = "--diff makes one report: no --output-dir";
    else if (options->per && options->before == NULL)
        wrong = "--per goes with --diff";
    else if (options->merge && options->output_dir)
        wrong = "--merge writes one report: use -o, not --output-dir";
    else if (strcmp(options->format, "archive") == 0 && has_filter(options))
        wrong = "--format=archive packs the whole profile: no option that "
                "selects goes with it";
    if (wrong)
        jr_say("%s", wrong);
    return wrong ? -1 : 0;
}

int jr_options_parse(int argc, char **argv, struct jr_options *options)
{
    struct jr_command_line line = {.words = argv + (argc > 0)};
    struct jr_option_table table = {rows, NROWS, NULL};
    enum jr_word word;
    const char *asked;
    int result;

    *options = (struct jr_options){.filter.end = UINT64_MAX};
    table.target = options;
    while ((word = jr_option_next(&line, &table, 1)) == JR_WORD_OPTION ||
           word == JR_WORD_OPERAND)
        if (word == JR_WORD_OPERAND)
            *JR_PUSH(options->logs, options->nlogs, options->logs_room) =
                line.operand;
    result = word == JR_WORD_END ? 0 : -1;
    options->filter.by_clock = options->clocks == 2;
    if (options->format == NULL)
        options->format = options->nannotate ? jr_format_annotated()->name
                                             : jr_formats[0].name;
    options->own_folders =
        jr_value_folders(getenv("JPROF_DEBUG_PATH"), &options->symbols.folders);
    asked = getenv("JPROF_DEBUGINFOD");
    options->debuginfod |= asked && strcmp(asked, "1") == 0;
    jr_profile_settle(options);
    if (result == 0 && !options->help && !options->version)
        result = check(options);
    if (result != 0)
        jr_say("try 'jprof-report --help'");
    return result;
}

void jr_options_free(struct jr_options *options)
{
    for (size_t i = 0; i < options->nown_logs; i++)
        free(options->own_logs[i]);
    free(options->own_logs);
    free(options->own_app);
    free(options->logs);
    free(options->annotate);
    free(options->sources);
    for (size_t i = 0; i < options->nmaps; i++)
        free((char *)(uintptr_t)options->maps[i].from);
    free(options->maps);
    free(options->filter.include);
    free(options->filter.exclude);
    free(options->filter.process);
    free(options->filter.spans);
    free(options->symbols.folders.items);
    free(options->own_folders);
    for (size_t i = 0; i < options->nunpacked; i++)
        jr_archive_remove(&options->unpacked[i]);
    *options = (struct jr_options){0};
}
