/* SPDX-License-Identifier: MIT
 *
 * Collects the head of a report.
 * Runs in: analyzer. */
#include "facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/mem.h"
#include "coverage.h"
#include "model/build.h"
#include "model/scope.h"
#include "model/words.h"
#include "who.h"
#include "program.h"
#include "selection.h"

#define NS 1e9

/* Less CPU time than this says nothing of a rate. */
#define RATE_LEAST_NS 500000000U

char *jr_process_name(const struct jr_process *process)
{
    const char *name = jr_base_name(jr_exe_of(process));
    char *role = jr_role_of(process), *whole;

    whole = jr_printf("%s%s%s", *name ? name : "process", role ? " " : "",
                      role ? role : "");
    free(role);
    return whole;
}

/* `host`: its machine, where there are several. */
static char *process_title(const struct jr_process *process, const char *host)
{
    char *name = jr_process_name(process), *title;

    title =
        jr_printf("%s (pid %" PRIu32 "%s%s)", name, process->run->header.pid,
                  host ? " on " : "", host ? host : "");
    free(name);
    return title;
}

static const char *total_title(const struct jr_report *report)
{
    if (report->model->nprocesses > 1)
        return "All processes";
    return report->nparts > 1 ? "All threads" : "Profile";
}

/* `process`: the title of the thread's process, where there are several. */
static char *thread_title(const struct jr_scope_key *key, const char *process)
{
    const char *name = key->name;

    return jr_printf("%s%sThread %" PRIu32 "%s%s", process ? process : "",
                     process ? ": " : "", key->tid, name && *name ? " " : "",
                     name ? name : "");
}

char **jr_part_titles(const struct jr_report *report)
{
    const struct jr_model *model = report->model;
    char **titles = jr_alloc(report->nparts + 1, sizeof(*titles));
    char *process = NULL; /* of the last thread */
    struct jr_hosts hosts;

    jr_hosts_find(model, &hosts);
    for (size_t i = 0; i < report->nparts; i++) {
        const struct jr_scope_key *key = &report->parts[i];

        if (key->scope == JR_SCOPE_ALL) {
            titles[i] = jr_strdup(total_title(report));
        } else if (key->scope == JR_SCOPE_PROCESS) {
            titles[i] = process_title(&model->processes[key->process],
                                      jr_hosts_name(&hosts, key->process));
        } else {
            if (model->nprocesses > 1 &&
                (!process || key->process != key[-1].process)) {
                free(process);
                process = process_title(&model->processes[key->process],
                                        jr_hosts_name(&hosts, key->process));
            }
            titles[i] = thread_title(key, process);
        }
    }
    free(process);
    jr_hosts_free(&hosts);
    return titles;
}

void jr_part_titles_free(const struct jr_report *report, char **titles)
{
    for (size_t i = 0; i < report->nparts; i++)
        free(titles[i]);
    free(titles);
}

/* Takes over `text`. */
static void add(struct jr_facts *facts, const char *label, char *text, int bad)
{
    *JR_PUSH(facts->items, facts->count, facts->room) =
        (struct jr_fact){label, text, bad};
}

/* The machines, where there are several, and how many processes each had. */
static void add_hosts(const struct jr_model *model, struct jr_facts *facts)
{
    struct jr_hosts hosts;
    char *text = NULL;

    jr_hosts_find(model, &hosts);
    for (size_t i = 0; hosts.count > 1 && i < hosts.count; i++) {
        char *before = text;
        size_t processes = 0;

        for (size_t j = 0; j < model->nprocesses; j++)
            processes += hosts.of[j] == i;
        text = jr_printf("%s%s%s (%zu process%s)", before ? before : "",
                         before ? ", " : "", hosts.names[i], processes,
                         processes == 1 ? "" : "es");
        free(before);
    }
    if (text)
        add(facts, "Machines", text, 0);
    jr_hosts_free(&hosts);
}

static void add_program(const struct jr_report *report, struct jr_facts *facts)
{
    const struct jr_model *model = report->model;
    char *command = jr_program_command(report);

    add(facts, "Program", jr_program_text(report), 0);
    if (command)
        add(facts, "Command", command, 0);
    if (model->nprocesses > 1)
        add(facts, "Processes", jr_printf("%zu", model->nprocesses), 0);
    add_hosts(model, facts);
    if (model->nprocesses == 1)
        add(facts, "Process id",
            jr_printf("%" PRIu32, model->processes[0].run->header.pid), 0);
}

/* What is said behind a figure that a log has of the whole run, where the
 * report is not of all of it. */
static const char *of_run(const struct jr_model *model)
{
    return jr_selection_is_part(model) ? " in the whole run" : "";
}

/* The time of samples with one of these events; it is left out where it is 0
 * and says nothing, which `always` denies. */
static void add_time_of(const struct jr_model *model, struct jr_facts *facts,
                        const char *label, uint64_t ns, uint32_t events)
{
    const int always = (events & 1U << JP_EVENT_CPU) != 0;
    const int real = model->times.nthreads > 0;

    if (jr_selection_lacks(model, events)) {
        if (always || real)
            add(facts, label, jr_strdup("left out by --event"), 0);
    } else if (always || ns) {
        add(facts, label, jr_duration(ns), 0);
    }
}

/* What of the profiled time a ring has: ", of which..."; "" of other logs. */
static char *kept_text(const struct jr_model *model)
{
    char *kept, *text;

    if (!jr_selection_is_cut(model))
        return jr_strdup("");
    kept = jr_duration(model->total.kept_ns);
    text = jr_printf(", of which the ring buffer kept the last %s for this "
                     "report",
                     kept);
    free(kept);
    return text;
}

/* The wall time of the run, and the profiled time where that is shorter. */
static void add_times(const struct jr_report *report, struct jr_facts *facts)
{
    const struct jr_model *model = report->model;
    const struct jr_filter *filter = &model->filter;
    const struct jr_stats *total = &model->total;
    uint64_t run_ns = report->cover ? report->cover->wall_ns : 0;
    char *profiled = jr_duration(total->wall_ns);
    char *run = jr_duration(run_ns), *kept = kept_text(model);

    if (run_ns <= total->wall_ns)
        add(facts, "Wall time", jr_printf("%s%s", profiled, kept), 0);
    else if (total->wall_ns < run_ns / 10 * 9)
        add(facts, "Wall time",
            jr_printf("%s (%s %s%s)", run, profiled,
                      filter->from_ns || filter->has_to ? "in this report"
                                                        : "profiled",
                      kept),
            0);
    else
        add(facts, "Wall time", jr_printf("%s%s", run, kept), 0);
    free(run);
    free(profiled);
    free(kept);
    add_time_of(model, facts, "CPU time", total->cpu_ns,
                1U << JP_EVENT_CPU | 1U << JP_EVENT_WALL_RUNNING);
    add_time_of(model, facts, "Blocked time", total->blocked_ns,
                1U << JP_EVENT_WALL_BLOCKED);
    add_time_of(model, facts, "Ready time", total->ready_ns,
                1U << JP_EVENT_WALL_READY);
}

/* The start time of the earliest process, in seconds; 0: not known. */
static time_t earliest(const struct jr_model *model)
{
    uint64_t least = 0;

    for (size_t i = 0; i < model->nprocesses; i++) {
        uint64_t real_ns = model->processes[i].run->header.real_ns;

        if (real_ns != 0 && (least == 0 || real_ns < least))
            least = real_ns;
    }
    return (time_t)(least / 1000000000);
}

static void add_date(const struct jr_model *model, struct jr_facts *facts)
{
    time_t when = earliest(model);
    struct tm parts;
    char text[64];

    if (when == 0 || !gmtime_r(&when, &parts) ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        return;
    add(facts, "Started", jr_strdup(text), 0);
}

/* "250 Hz"; never with an exponent. */
static char *hertz(double rate)
{
    return jr_printf(rate < 1000 ? "%.4g Hz" : "%.0f Hz", rate);
}

/* A real-time profile has two rates, since waiting threads are sampled less
 * often than running ones. */
static void add_rate(const struct jr_model *model, struct jr_facts *facts)
{
    const struct jr_stats *total = &model->total;
    double rate = NS / (double)model->period_ns, got = jr_rate_got(total);
    char *asked = hertz(rate), *running = hertz(got < rate ? got : rate);
    char *all = hertz(jr_rate_all(total));
    int real = model->times.nthreads > 0, low = got < 0.9 * rate;

    if (total->timer_samples == 0 && !real)
        add(facts, "Rate", jr_printf("%s requested", asked), 0);
    else if (!real)
        add(facts, "Rate",
            jr_printf("%s requested, %s achieved", asked, running), low);
    else if (total->timer_samples == 0)
        add(facts, "Rate",
            jr_printf("%s requested; %s on average (waiting threads are "
                      "sampled less often)",
                      asked, all),
            0);
    else
        add(facts, "Rate",
            jr_printf("%s requested, %s achieved for running threads, %s for "
                      "all threads (waiting threads are sampled less often)",
                      asked, running, all),
            low);
    free(asked);
    free(running);
    free(all);
}

/* Why the rate of a run of this clock is low, and what helps. */
static const char *why_low(const struct jr_stats *total, uint32_t clock)
{
    if (total->lowered_ns > total->timer_ns / 2)
        return "signals would have used more than a fifth of the threads' "
               "time; JP_STACK=fp makes them cheaper";
    if (clock == JP_CLOCK_THREAD_CPU)
        return "the timers expire at the kernel's ticks; JP_CLOCK=hrtimer "
               "reaches the rate where no filter forbids to set timers";
    if (clock == JP_CLOCK_ITIMER)
        return "one timer that expires at the kernel's ticks served all "
               "threads; if the kernel refused others, raise ulimit -i";
    return "long system calls have one sample, whose weight is their periods";
}

char *jr_rate_warning(const struct jr_model *model)
{
    const struct jr_stats *total = &model->total;
    const double rate = NS / (double)model->period_ns, got = jr_rate_got(total);
    if (model->foreign || model->nprocesses == 0 || model->times.nthreads > 0 ||
        total->timer_ns < RATE_LEAST_NS || got >= 0.9 * rate)
        return NULL;
    char *asked = hertz(rate), *achieved = hertz(got);
    char *text =
        jr_printf("%s requested, %s achieved: %s", asked, achieved,
                  why_low(total, model->processes[0].run->header.clock));
    free(asked);
    free(achieved);
    return text;
}

static void add_lowered(const struct jr_model *model, struct jr_facts *facts)
{
    const struct jr_stats *total = &model->total;
    char *rate, *time;

    if (total->lowered_ns == 0)
        return;
    rate = hertz(jr_rate_lowered(total));
    time = jr_duration(total->lowered_ns);
    add(facts, "Rate lowered",
        jr_printf("%s on average for %s%s, to limit the overhead", rate, time,
                  of_run(model)),
        1);
    free(rate);
    free(time);
}

/* Appends `text` to a list in *list. */
static void append(char **list, const char *text)
{
    char *longer = jr_printf("%s%s%s", *list, **list ? ", " : "", text);

    free(*list);
    *list = longer;
}

static void add_filter(const struct jr_model *model, struct jr_facts *facts)
{
    const struct jr_filter *filter = &model->filter;
    char *list = jr_selection_text(model);

    if (list == NULL)
        return;
    add(facts, "Filters",
        filter->nexclude || filter->ninclude
            ? jr_printf("%s (%" PRIu64 " samples removed by name)", list,
                        model->total.filtered)
            : jr_strdup(list),
        0);
    free(list);
}

void jr_facts_about(const struct jr_report *report, struct jr_facts *facts)
{
    const struct jr_model *model = report->model;
    const struct jr_process *first = &model->processes[0];
    const struct jr_stats *total = &model->total;
    size_t sections = 0;

    for (size_t i = 0; i < model->nprocesses; i++)
        sections += model->processes[i].all_sections;
    add_program(report, facts);
    add_date(model, facts);
    add_times(report, facts);
    add(facts, "Samples",
        jr_printf("%" PRIu64 ", total weight %" PRIu64 " periods of %.6g ms",
                  total->samples, jr_periods(model, total->weight_ns),
                  (double)model->period_ns / 1e6),
        total->samples == 0);
    if (!model->foreign) {
        add(facts, "Clock", jr_strdup(jr_clock_text(first->run->header.clock)),
            0);
        add_rate(model, facts);
        add_lowered(model, facts);
        add(facts, "Stack unwinding",
            jr_strdup(jr_walker_text(first->run->header.walker)), 0);
    }
    add(facts, "Threads", jr_printf("%" PRIu64, total->threads), 0);
    add(facts, "Sections",
        sections == total->sections
            ? jr_printf("%zu%s", sections,
                        sections > 1 && jr_selection_is_cut(model)
                            ? " in the whole run"
                            : "")
            : jr_printf("%" PRIu64 " of %zu", total->sections, sections),
        0);
    add_filter(model, facts);
}

/* Counts by reason: a list of those that are not 0, and their sum. */
static char *listed(const uint64_t *counts, size_t first, size_t end,
                    const char *(*text_of)(unsigned), uint64_t *sum)
{
    char *list = jr_strdup(""), *text;

    *sum = 0;
    for (size_t i = first; i < end; i++) {
        if (counts[i] == 0)
            continue;
        *sum = jr_add(*sum, counts[i]);
        text = jr_printf("%" PRIu64 " %s", counts[i], text_of((unsigned)i));
        append(&list, text);
        free(text);
    }
    return list;
}

/* "12 (0.40%): 10 no memory, 2 too many threads", or "none".  Without the share
 * where the report has not all samples that were taken beside them. */
static char *lost_text(const struct jr_model *model)
{
    const struct jr_stats *total = &model->total;
    uint64_t sum;
    char *list = listed(total->lost, 0, JR_LOST_COUNT, jr_lost_text, &sum);
    char *text;

    if (sum == 0)
        text = jr_strdup("none");
    else if (jr_selection_is_part(model))
        text = jr_printf("%" PRIu64 "%s: %s", sum, of_run(model), list);
    else
        text = jr_printf("%" PRIu64 " (%.2f%%): %s", sum,
                         jr_percent(sum, jr_add(total->samples, sum)), list);
    free(list);
    return text;
}

static char *incomplete_text(const struct jr_stats *total)
{
    uint64_t sum;
    char *list = listed(total->reasons, JP_REASON_ROOT + 1, JP_REASON_FIBER,
                        jr_reason_text, &sum);
    char *text = sum ? jr_printf("%" PRIu64 " (%.2f%%): %s", sum,
                                 jr_percent(sum, total->samples), list)
                     : jr_strdup("none");

    free(list);
    return text;
}

/* What the log of a process that left no word of its end lacks. */
static void add_open(const struct jr_stats *total, struct jr_facts *facts)
{
    char *time;

    if (total->open == 0)
        return;
    time = jr_duration(total->open_ns);
    add(facts, "After last sample",
        jr_printf("%s of %" PRIu64 " waiting thread%s, not in this report: the "
                  "log has no end (killed, ended by exec, or still running)",
                  time, total->open, total->open == 1 ? "" : "s"),
        total->open_ns > total->weight_ns / 100);
    free(time);
}

/* Modules whose code has no names, each with the share of the stacks that it
 * is in, and what helps. */
static char *nameless_text(const struct jr_report *report)
{
    const struct jr_nameless_list *list = report->nameless;
    char *text = jr_strdup("");
    int helpless = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct jr_nameless *item = &list->items[i];
        char *more = jr_printf(
            "%s in %.1f%%%s%s%s%s", item->module,
            jr_percent(item->weight_ns, report->model->total.weight_ns),
            i == 0 ? " of the stacks" : "", item->package ? " (install " : "",
            item->package ? item->package : "", item->package ? ")" : "");

        append(&text, more);
        free(more);
        helpless |= item->package == NULL;
    }
    if (helpless && !list->asked)
        append(&text, "--debuginfod may have more");
    return text;
}

/* How well samples were taken. */
static void add_samples(const struct jr_report *report, struct jr_facts *facts)
{
    const struct jr_stats *total = &report->model->total;
    uint64_t truncated = total->reasons[JP_REASON_DEPTH];
    int bad = 0;
    char *covered = jr_coverage_text(report, &bad);
    uint64_t fibers = total->reasons[JP_REASON_FIBER];

    if (covered)
        add(facts, "Coverage", covered, bad);
    add(facts, "Lost samples", lost_text(report->model), jr_lost(total) > 0);
    add_open(total, facts);
    add(facts, "Incomplete stacks", incomplete_text(total),
        jr_incomplete(total) > 0);
    if (fibers)
        add(facts, "Fiber stacks",
            jr_printf("%" PRIu64 " (%.2f%%), complete to the fiber's root",
                      fibers, jr_percent(fibers, total->samples)),
            0);
    add(facts, "Truncated stacks",
        truncated ? jr_printf("%" PRIu64 " (%.2f%%)", truncated,
                              jr_percent(truncated, total->samples))
                  : jr_strdup("none"),
        truncated > 0);
    if (jr_rules(total))
        add(facts, "Unwind rule cache",
            jr_printf("%.2f%% of %" PRIu64 " lookups hit%s",
                      jr_percent(total->rule_hits, jr_rules(total)),
                      jr_rules(total), of_run(report->model)),
            0);
}

/* Other tools' profiles say nothing of how they were made. */
void jr_facts_quality(const struct jr_report *report, struct jr_facts *facts)
{
    const struct jr_stats *total = &report->model->total;

    if (!report->model->foreign)
        add_samples(report, facts);
    add(facts, "Unnamed frames",
        total->unnamed_frames
            ? jr_printf("%.2f%% of %" PRIu64,
                        jr_percent(total->unnamed_frames, total->frames),
                        total->frames)
            : jr_strdup("none"),
        jr_percent(total->unnamed_frames, total->frames) >= 5.0);
    if (report->nameless && report->nameless->count > 0)
        add(facts, "Without names", nameless_text(report), 1);
    if (total->jit_frames)
        add(facts, "JIT frames",
            jr_printf("%.2f%% of %" PRIu64 "; %.2f%% of the JIT frames named%s",
                      jr_percent(total->jit_frames, total->frames),
                      total->frames,
                      jr_percent(total->jit_named, total->jit_frames),
                      total->jit_late ? ", some from later descriptions" : ""),
            jr_percent(total->jit_named, total->jit_frames) < 95.0);
    if (!report->model->foreign)
        add(facts, "Changed binaries",
            report->changed ? jr_printf("%zu", report->changed)
                            : jr_strdup("none"),
            report->changed > 0);
}

void jr_facts_free(struct jr_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++)
        free(facts->items[i].text);
    free(facts->items);
    *facts = (struct jr_facts){0};
}
