/* SPDX-License-Identifier: MIT
 *
 * The command line: a table of options, each with its handler.
 * Runs in: analyzer. */
#include "options_parse.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "formats.h"
#include "options_filter.h"
#include "profile.h"
#include "values.h"

struct option {
    char letter;       /* 0: none */
    const char *word;  /* with its dashes; NULL: none */
    const char *value; /* what it is called in the help; NULL: no value */
    jr_take_fn *take;
    const char *help;
};

static int take_verbose(struct jr_options *options, const char *name,
                        const char *value)
{
    (void)name, (void)value;
    options->verbose = 1;
    return 0;
}

static int take_threads(struct jr_options *options, const char *name,
                        const char *value)
{
    (void)name, (void)value;
    options->filter.by_thread = 1;
    return 0;
}

static int take_annotate(struct jr_options *options, const char *name,
                         const char *value)
{
    (void)name;
    *JR_PUSH(options->annotate, options->nannotate, options->annotate_room) =
        value;
    return 0;
}

static int take_debug_dir(struct jr_options *options, const char *name,
                          const char *value)
{
    struct jr_debug_folders *folders = &options->symbols.folders;

    if (*value == '\0') {
        jr_say("%s: must name a folder", name);
        return -1;
    }
    *JR_PUSH(folders->items, folders->count, folders->room) = value;
    return 0;
}

static int take_debuginfod(struct jr_options *options, const char *name,
                           const char *value)
{
    (void)name, (void)value;
    options->debuginfod = 1;
    return 0;
}

static int take_source_dir(struct jr_options *options, const char *name,
                           const char *value)
{
    (void)name;
    *JR_PUSH(options->sources, options->nsources, options->sources_room) =
        value;
    return 0;
}

static int take_source_map(struct jr_options *options, const char *name,
                           const char *value)
{
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

static int take_no_inline(struct jr_options *options, const char *name,
                          const char *value)
{
    (void)name, (void)value;
    options->symbols.no_inline = 1;
    return 0;
}

static int take_diff(struct jr_options *options, const char *name,
                     const char *value)
{
    (void)name;
    options->before = value;
    return 0;
}

static int take_per(struct jr_options *options, const char *name,
                    const char *value)
{
    options->per = 1;
    return jr_value_units(name, value, &options->units[JR_BEFORE],
                          &options->units[JR_AFTER]);
}

static int take_limit(struct jr_options *options, const char *name,
                      const char *value)
{
    options->limit = JR_NO_LIMIT;
    return strcmp(value, "none") == 0
               ? 0
               : jr_value_number(name, value, 1, &options->limit);
}

static int take_cleo(struct jr_options *options, const char *name,
                     const char *value)
{
    (void)name, (void)value;
    options->format = "cleo";
    return 0;
}

static int take_format(struct jr_options *options, const char *name,
                       const char *value)
{
    (void)name;
    options->format = value;
    return 0;
}

static int take_output_dir(struct jr_options *options, const char *name,
                           const char *value)
{
    (void)name;
    options->output_dir = value;
    return 0;
}

static int take_output(struct jr_options *options, const char *name,
                       const char *value)
{
    (void)name;
    options->output = value;
    return 0;
}

static int take_merge(struct jr_options *options, const char *name,
                      const char *value)
{
    (void)name, (void)value;
    options->merge = 1;
    return 0;
}

static int take_profile(struct jr_options *options, const char *name,
                        const char *value)
{
    (void)name, (void)value;
    options->profile = 1;
    return 0;
}

static int take_unmask(struct jr_options *options, const char *name,
                       const char *value)
{
    (void)name, (void)value;
    options->unmasked = 1;
    return 0;
}

static int take_help(struct jr_options *options, const char *name,
                     const char *value)
{
    (void)name, (void)value;
    options->help = 1;
    return 0;
}

static int take_version(struct jr_options *options, const char *name,
                        const char *value)
{
    (void)name, (void)value;
    options->version = 1;
    return 0;
}

static const struct option table[] = {
    {'e', NULL, "NAME", jr_take_exclude, "drop stacks that hold function NAME"},
    {'i', NULL, "NAME", jr_take_include, "keep only stacks that hold NAME"},
    {'s', NULL, "DEPTH", jr_take_depth,
     "keep the DEPTH leaf-most frames (>= 2)"},
    {'t', "--threads", NULL, take_threads, "the total, then each thread"},
    {0, "--only-thread", "TID", jr_take_only_thread, "only this thread"},
    {0, "--all", NULL, jr_take_all, "all sections (default)"},
    {0, "--last", NULL, jr_take_last, "only the last section"},
    {0, "--start", "N", jr_take_start, "sections from N on, counted from 0"},
    {0, "--end", "M", jr_take_end, "sections before M"},
    {0, "--process", "WHICH", jr_take_process,
     "only processes of this pid, program, or command by a\n"
     "                       shell pattern"},
    {0, "--from", "SECONDS", jr_take_from,
     "from so long after the profile's start on; @SECONDS: of\n"
     "                       CLOCK_MONOTONIC"},
    {0, "--to", "SECONDS", jr_take_to,
     "until so long after the profile's start"},
    {0, "--span", "NAME", jr_take_span,
     "only time of threads in their spans of this name\n"
     "                       (jprof_span_begin)"},
    {0, "--event", "WHAT", jr_take_event,
     "only time of this kind: cpu, running, blocked, ready\n"
     "                       (waiting for a CPU), raised"},
    {0, "--split-events", NULL, jr_take_split_events,
     "end each stack in the kind of its time"},
    {0, "--jit-tiers", "HOW", jr_take_tiers,
     "JIT functions: merge their tiers (default), split, raw"},
    {0, "--debug-dir", "DIR", take_debug_dir,
     "look for debug files there too, or for a system's root"},
    {0, "--debuginfod", NULL, take_debuginfod,
     "ask the servers of DEBUGINFOD_URLS for debug files"},
    {0, "--source-dir", "DIR", take_source_dir,
     "read sources there too, if the profile names them"},
    {0, "--source-map", "FROM=TO", take_source_map,
     "sources that were below FROM are below TO now"},
    {0, "--no-inline", NULL, take_no_inline,
     "count inlined functions as part of their callers"},
    {0, "--annotate", "NAME", take_annotate,
     "list source lines and machine code of function NAME"},
    {0, "--merge", NULL, take_merge, "all logs in one report"},
    {0, "--diff", "BEFORE", take_diff,
     "compare with this folder or log; html or text"},
    {0, "--per", "N[,M]", take_per,
     "compare time a unit of work: N before, M (or N) after"},
    {0, "--limit", "N", take_limit,
     "functions that each process or thread shows beside the\n"
     "                       total; none: everything of each"},
    {0, "--format", "FORMAT", take_format, "one of the formats below"},
    {0, "--cleo", NULL, take_cleo, "the same as --format=cleo"},
    {'o', NULL, "FILE", take_output, "write to FILE instead of stdout"},
    {0, "--output-dir", "DIR", take_output_dir,
     "write DIR/LOG.html for each LOG"},
    {0, "--profile", NULL, take_profile,
     "the first operand, too, is a folder or log (jprof report)"},
    {0, "--unmask", NULL, take_unmask,
     "show passwords in command lines as they are"},
    {'v', NULL, NULL, take_verbose, "say on stderr what is read and found"},
    {'h', "--help", NULL, take_help, "show this help"},
    {0, "--version", NULL, take_version, "show the version"},
};

#define TABLE_SIZE (sizeof(table) / sizeof(table[0]))

void jr_options_help(FILE *out)
{
    fputs("Usage: jprof-report [OPTION]... PROGRAM LOG [LOG]...\n"
          "       jprof-report [OPTION]... [PROGRAM] DIR|LOG...\n"
          "Turns the logs that libjprof.so wrote into reports.  One log, or "
          "several with\n--merge, goes to stdout; else each LOG to LOG.html "
          "beside it.  A folder stands\nfor all logs in it, and they become "
          "one report, as they do where no program\nis named.\n\n",
          out);
    for (size_t i = 0; i < TABLE_SIZE; i++) {
        const struct option *option = &table[i];
        char text[64];
        int used = 0;

        if (option->letter)
            used = snprintf(text, sizeof(text), "-%c%s", option->letter,
                            option->word ? ", " : "");
        snprintf(text + used, sizeof(text) - (size_t)used, "%s%s%s",
                 option->word ? option->word : "",
                 option->value ? (option->word ? "=" : " ") : "",
                 option->value ? option->value : "");
        fprintf(out, "  %-20s %s\n", text, option->help);
    }
    fputs("\nFormats:\n", out);
    for (const struct jr_format *format = jr_formats; format->name; format++)
        fprintf(out, "  %-20s %s\n", format->name, format->help);
    fputs("\nExit status: 0 complete, 1 partial (stderr says why), 2 failed, "
          "64 usage.\n",
          out);
}

/* The arguments that are still to be read. */
struct words {
    char **at;
    char **end;
};

static const struct option *find_letter(char letter)
{
    for (size_t i = 0; i < TABLE_SIZE; i++)
        if (table[i].letter == letter)
            return &table[i];
    return NULL;
}

static const struct option *find_word(const char *word, size_t length)
{
    for (size_t i = 0; i < TABLE_SIZE; i++)
        if (table[i].word && strlen(table[i].word) == length &&
            memcmp(table[i].word, word, length) == 0)
            return &table[i];
    return NULL;
}

/* The value of an option: what is joined to it, else the next argument. */
static const char *value_of(const char *name, const char *joined,
                            struct words *words)
{
    if (joined != NULL)
        return joined;
    if (words->at == words->end) {
        jr_say("%s needs a value", name);
        return NULL;
    }
    return *words->at++;
}

static int take_word(struct jr_options *options, const char *text,
                     struct words *words)
{
    const char *equals = strchr(text, '=');
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    const struct option *option = find_word(text, length);
    const char *value = NULL;

    if (option == NULL) {
        jr_say("unknown option %s", text);
        return -1;
    }
    if (option->value == NULL && equals != NULL) {
        jr_say("%s takes no value", option->word);
        return -1;
    }
    if (option->value != NULL) {
        value = value_of(option->word, equals ? equals + 1 : NULL, words);
        if (value == NULL)
            return -1;
    }
    return option->take(options, option->word, value);
}

/* A group of letters, the last of which may have a value: -vt, -s5, -e name */
static int take_letters(struct jr_options *options, const char *text,
                        struct words *words)
{
    for (const char *at = text + 1; *at != '\0'; at++) {
        const struct option *option = find_letter(*at);
        char name[3] = {'-', *at, '\0'};
        const char *value;

        if (option == NULL) {
            jr_say("unknown option %s", text[2] ? text : name);
            return -1;
        }
        if (option->value == NULL) {
            if (option->take(options, name, NULL) != 0)
                return -1;
            continue;
        }
        value = value_of(name, at[1] ? at + 1 : NULL, words);
        return value ? option->take(options, name, value) : -1;
    }
    return 0;
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
    struct words words = {argv + (argc > 0), argv + argc};
    int only_operands = 0, result = 0;
    const char *asked;

    *options = (struct jr_options){.filter.end = UINT64_MAX};
    while (result == 0 && words.at < words.end) {
        const char *text = *words.at++;

        if (only_operands || text[0] != '-' || text[1] == '\0')
            *JR_PUSH(options->logs, options->nlogs, options->logs_room) = text;
        else if (strcmp(text, "--") == 0)
            only_operands = 1;
        else if (text[1] == '-')
            result = take_word(options, text, &words);
        else
            result = take_letters(options, text, &words);
    }
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
