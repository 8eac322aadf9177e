/* SPDX-License-Identifier: MIT
 *
 * jprof-report: logs and maps of libjprof.so in, reports out.
 * Runs in: analyzer. */
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "jp_limits.h"
#include "load.h"
#include "load_foreign.h"
#include "mapname.h"
#include "model/scope.h"
#include "options_parse.h"
#include "output.h"
#include "profile.h"
#include "progress.h"
#include "read/foreign/foreign.h"
#include "read/secret.h"
#include "recorded.h"
#include "select.h"
#include "symbol/elf/fetch.h"
#include "write/annotate.h"
#include "write/coverage.h"
#include "write/facts.h"
#include "write/report.h"

/* Samples that a page holds each for itself. */
#define MOST_SAMPLES 1250000

/* What --version says was built in; as the Makefile's REP_LIBS. */
#ifdef JR_LIBDEFLATE
#define LIBRARIES "libdw, libiberty, capstone, zlib, zstd, libdeflate"
#else
#define LIBRARIES "libdw, libiberty, capstone, zlib, zstd"
#endif

struct job {
    const struct jr_options *options;
    const struct jr_format *format;
    struct jr_diag diag;
    struct jr_progress progress;
    int is_made_up;            /* the reports' names */
    size_t written, unwritten; /* reports */
    size_t unread;             /* logs */
    uint8_t *selected;         /* by --process: a process was there */
    struct jr_fetch fetch;     /* for all reports together */
};

static void say_totals(const struct jr_report *report)
{
    const struct jr_model *model = report->model;

    jr_say("%zu functions, %zu call paths, %zu calls, %zu parts",
           model->nfunctions, model->nodes.count - 1, model->narcs,
           report->nparts);
}

/* Warns on stderr when a large part of a run's CPU time is not in the
 * report. */
static void say_coverage(const struct jr_report *report)
{
    int bad = 0;
    char *text = report->merged ? jr_coverage_text(report, &bad) : NULL;

    if (text && bad && report->cover->cpu_ns > JR_GAP_MIN_NS &&
        jr_coverage_percent(report->cover) < JR_GAP_PERCENT)
        jr_say("the samples cover %s; the report says what is missing", text);
    free(text);
}

/* Says on stderr that a run had fewer samples than it was to have. */
static void say_rate(const struct jr_report *report)
{
    char *text = report->merged ? jr_rate_warning(report->model) : NULL;

    if (text)
        jr_say("%s", text);
    free(text);
}

/* A jr_fetch_show_fn. */
static void show_fetch(void *data, const char *what, uint64_t passed_ms,
                       uint64_t most_ms)
{
    struct job *job = data;
    const struct jr_progress before = job->progress;
    char *text;

    if (!what) {
        jr_progress_wipe(&job->progress);
        return;
    }
    text = jr_printf("asking debuginfod for %s, time for that used", what);
    job->progress.step = text;
    job->progress.what = NULL;
    jr_progress_show(&job->progress, passed_ms, most_ms);
    job->progress.step = before.step;
    job->progress.what = before.what;
    free(text);
}

/* Shows how far a step of the work on the log is. */
static void show_step(struct job *job, const char *step, uint64_t done,
                      uint64_t total)
{
    job->progress.step = step;
    jr_progress_show(&job->progress, done, total);
}

/* Two jr_progress_fn. */
static void show_reading(void *data, uint64_t done, uint64_t total)
{
    show_step(data, "reading", done, total);
}

static void show_adding(void *data, uint64_t done, uint64_t total)
{
    show_step(data, "looking up the stacks of", done, total);
}

/* Reads the logs; returns how many could be. */
static size_t load_logs(struct job *job, struct jr_load *load,
                        const char **logs, size_t count)
{
    size_t read = 0;

    for (size_t i = 0; i < count; i++) {
        load->model.side =
            i < count - job->options->nbefore ? JR_AFTER : JR_BEFORE;
        load->packed = (uint8_t)jr_profile_is_packed(job->options, logs[i]);
        job->progress.what = logs[i];
        show_step(job, NULL, i, count);
        if (jr_foreign_is(logs[i]) ? jr_load_foreign(load, logs[i]) == 0
                                   : jr_load_log(load, logs[i]) == 0)
            read++;
        else
            job->unread++;
        jr_progress_wipe(&job->progress);
    }
    return read;
}

/* Writes what was loaded of `logs`. */
static void write_report(struct job *job, struct jr_load *load,
                         const char **logs, size_t count, const char *path)
{
    const struct jr_options *options = job->options;
    struct jr_report report = {.model = &load->model,
                               .cover = &load->cover,
                               .merged = load->merged,
                               .app = options->app,
                               .annotate = options->annotate,
                               .nannotate = options->nannotate,
                               .limit = options->limit,
                               .per = options->per};
    struct jr_nameless_list nameless;
    struct jr_recorded recorded;
    struct jr_scope_key *parts;
    char *folder = jr_folder_of(logs[0]);

    if (options->before) {
        report.cover = NULL;
        report.sides[JR_BEFORE] = options->before;
        report.sides[JR_AFTER] = options->after;
        for (size_t i = 0; i < JR_SIDES; i++)
            report.units[i] = options->per ? options->units[i] : 1;
    }
    job->progress.what = NULL;
    show_step(job, "adding up", 0, 0);
    jr_load_finish(load);
    parts = jr_parts_list(&load->model, &report.nparts);
    report.parts = parts;
    jr_nameless_find(&load->model, load->symbols, &nameless);
    nameless.asked = options->debuginfod;
    report.nameless = &nameless;
    report.notes = load->notes;
    report.nnotes = load->nnotes;
    report.changed = jr_symbols_changed(load->symbols);
    report.symbols = load->symbols;
    report.logs = logs;
    report.nlogs = count;
    report.diag = &job->diag;
    jr_recorded_find(&load->model, logs, count, &recorded);
    report.places = (struct jr_listing_places){
        .recorded = (const char *const *)recorded.folders,
        .nrecorded = recorded.count,
        .maps = options->maps,
        .nmaps = options->nmaps,
        .folder = folder,
        .sources = options->sources,
        .nsources = options->nsources,
        .symbols = load->symbols};
    jr_annotate_say_absent(&report);
    say_coverage(&report);
    say_rate(&report);
    if (options->verbose)
        say_totals(&report);
    show_step(job, "writing", 0, 0);
    if (jr_output_write(&report, job->format, path, job->is_made_up) == 0)
        job->written++;
    else
        job->unwritten++;
    jr_progress_wipe(&job->progress);
    jr_nameless_free(&nameless);
    jr_recorded_free(&recorded);
    free(parts);
    free(folder);
}

/* One report of `count` logs, to `path` or stdout (NULL); none where --process
 * leaves nothing of them. */
static void make_report(struct job *job, const char **logs, size_t count,
                        const char *path)
{
    const struct jr_options *options = job->options;
    struct jr_filter filter = options->filter;
    struct jr_symbols_options symbols = options->symbols;
    struct jr_load load;

    filter.needs = job->format->needs |
                   (options->verbose ? JR_NEEDS_PATHS | JR_NEEDS_CALLS : 0);
    filter.most_samples = MOST_SAMPLES;
    if (options->debuginfod)
        symbols.folders.fetch = &job->fetch;
    symbols.record_code = jr_filter_needs(&filter, JR_NEEDS_LOOKUPS);
    jr_load_init(&load, options->app, &filter, &symbols, &job->diag);
    if (filter.from_ns > 0 || filter.has_to ||
        jr_filter_needs(&filter, JR_NEEDS_SAMPLE_LIST | JR_NEEDS_REPLAY)) {
        jr_select_starts(&load.starts, logs, count, count - options->nbefore);
        load.model.filter.starts = &load.starts;
    }
    load.verbose = options->verbose;
    load.merged = options->merge;
    load.model.compares = options->before != NULL;
    load.selected = job->selected;
    load.model.progress = show_adding;
    load.model.progress_data = job;
    job->diag.progress = show_reading;
    job->diag.progress_data = job;
    if (load_logs(job, &load, logs, count) > 0 && load.model.nprocesses > 0)
        write_report(job, &load, logs, count, path);
    jr_load_free(&load);
}

/* Two logs of one name in different folders would be written over each other
 * in --output-dir. */
static int names_clash(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0) {
                jr_say("two logs would be written to %s", names[i]);
                return 1;
            }
    return 0;
}

/* A report of its own, in a file of its own, for each log. */
static int make_files(struct job *job)
{
    const struct jr_options *options = job->options;
    char **names = jr_alloc(options->nlogs, sizeof(*names));
    int clash;

    for (size_t i = 0; i < options->nlogs; i++)
        names[i] = jr_output_name(options->logs[i], options->output_dir,
                                  job->format->extension);
    clash = names_clash(names, options->nlogs);
    job->is_made_up = 1;
    for (size_t i = 0; i < options->nlogs; i++) {
        if (!clash)
            make_report(job, &options->logs[i], 1, names[i]);
        free(names[i]);
    }
    free(names);
    return clash ? JR_USAGE : JR_COMPLETE;
}

static int run(struct jr_options *options)
{
    struct job job = {.options = options,
                      .format = jr_format_find(options->format)};
    int status = JR_COMPLETE;

    job.fetch = (struct jr_fetch){.show = show_fetch, .data = &job};
    if (options->unmasked)
        jr_secrets_show();
    if (jr_profile_expand(options) != 0)
        return JR_FAILED;
    jr_progress_start(&job.progress);
    if (options->before && jr_format_compares(job.format) == NULL) {
        jr_say("--diff goes with --format=html and text");
        return JR_USAGE;
    }
    if (options->before)
        job.format = jr_format_compares(job.format);
    job.selected = jr_alloc(options->filter.nprocess + 1, 1);
    if (!options->merge && (options->nlogs > 1 || options->output_dir))
        status = make_files(&job);
    else
        make_report(&job, options->logs, options->nlogs, options->output);
    if (job.unread < options->nlogs && status == JR_COMPLETE)
        jr_select_say(&options->filter, job.selected);
    free(job.selected);
    if (status != JR_COMPLETE)
        return status;
    if (options->verbose && options->debuginfod)
        jr_say("debuginfod: %u files fetched", job.fetch.fetched);
    jr_diag_finish(&job.diag);
    if (job.written == 0 || job.unwritten > 0)
        return JR_FAILED;
    return job.unread || job.diag.warnings ? JR_PARTIAL : JR_COMPLETE;
}

/* Closes stdout after a text for the user. */
static int finish_text(const char *what)
{
    return jr_output_close_stdout(what) == 0 ? JR_COMPLETE : JR_FAILED;
}

int main(int argc, char **argv)
{
    struct jr_options options;
    int status;

    if (jr_options_parse(argc, argv, &options) != 0) {
        status = JR_USAGE;
    } else if (options.help) {
        jr_options_help(stdout);
        status = finish_text("the help");
    } else if (options.version) {
        puts("jprof-report " JP_VERSION "\n"
             "built with: " LIBRARIES);
        status = finish_text("the version");
    } else {
        status = run(&options);
    }
    jr_options_free(&options);
    return status;
}
