/* SPDX-License-Identifier: MIT
 *
 * Describes the coverage in sentences.
 * Runs in: analyzer. */
#include "coverage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "figures.h"
#include "selection.h"

#define GAPS_SHOWN 20
#define COMMAND_SHOWN 100 /* bytes */
#define GOOD_PERCENT 95.0
#define REST_MIN_NS 50000000ULL

double jr_coverage_percent(const struct jr_cover *cover)
{
    double percent = jr_percent(cover->sampled_ns, cover->cpu_ns);

    return percent < 100.0 ? percent : 100.0;
}

/* Appends "; TIME WHAT" to *text if the time is at least REST_MIN_NS. */
static void append(char **text, uint64_t ns, const char *what)
{
    char *time, *longer;

    if (ns < REST_MIN_NS)
        return;
    time = jr_duration(ns);
    longer = jr_printf("%s; %s %s", *text, time, what);
    free(time);
    free(*text);
    *text = longer;
}

/* "more in threads that run kernel code alone (iou-sqp 1.86 s)". */
static char *kernel_threads(const struct jr_cover *cover)
{
    char *text = jr_strdup("");

    for (size_t i = 0; i < cover->nkernel; i++) {
        char *time = jr_duration(cover->kernel[i].cpu_ns);
        char *longer = jr_printf("%s%s%s %s", text, i ? ", " : " (",
                                 cover->kernel[i].name, time);

        free(time);
        free(text);
        text = longer;
    }
    char *whole = jr_printf("more in threads that run kernel code alone%s%s",
                            text, cover->nkernel ? ")" : "");
    free(text);
    return whole;
}

/* The coverage is of all processes, whatever the report is of. */
static const char *in_run(const struct jr_report *report)
{
    return jr_selection_is_part(report->model) ||
                   report->model->filter.nprocess > 0
               ? " in the whole run"
               : "";
}

char *jr_coverage_text(const struct jr_report *report, int *bad)
{
    const struct jr_cover *cover = report->cover;
    char *time, *text, *kernel;

    if (!cover || !cover->known)
        return NULL;
    time = jr_duration(cover->cpu_ns ? cover->cpu_ns : cover->cut_ns);
    if (cover->cpu_ns)
        text = jr_printf(
            "%.1f%% of %s of CPU time%s%s", jr_coverage_percent(cover), time,
            cover->whole || !report->merged ? ""
                                            : " that the processes reported",
            in_run(report));
    else if (cover->cut_ns)
        text = jr_printf("not known for the %s of CPU time in the whole run, "
                         "as older samples were overwritten",
                         time);
    else
        text = jr_printf("no CPU time was used%s", in_run(report));
    free(time);
    append(&text, cover->paused_ns, "more while profiling was paused");
    append(&text, cover->looking_ns,
           "more used by jprof to sample waiting "
           "threads");
    append(&text, cover->making_ns, "more used by jprof to make logs");
    kernel = kernel_threads(cover);
    append(&text, cover->kernel_ns, kernel);
    free(kernel);
    append(&text, cover->cpu_ns ? cover->cut_ns : 0,
           "more in processes whose older samples were overwritten");
    append(&text, cover->children_ns,
           "more of children, which have their own logs");
    *bad = cover->ngaps > 0 || (cover->cpu_ns > REST_MIN_NS &&
                                jr_coverage_percent(cover) < GOOD_PERCENT);
    return text;
}

/* The length of a command's first word, "sshd" of "sshd: root [priv]" too. */
static size_t program_length(const char *command)
{
    size_t length = strcspn(command, " ");

    return length > 1 && command[length - 1] == ':' ? length - 1 : length;
}

/* "12 processes of busybox", "busybox sh (pid 3)". */
static char *gap_title(const struct jr_gap *gap)
{
    const char *command = gap->command;
    const char *rest = strlen(command) > COMMAND_SHOWN ? "..." : "";

    if (gap->unseen && gap->count > 1)
        return jr_printf("children of %zu processes of %.*s", gap->count,
                         command[0] ? (int)program_length(command) : 1,
                         command[0] ? command : "?");
    if (gap->unseen)
        return jr_printf("children of %.*s%s (pid %" PRIu32 ")", COMMAND_SHOWN,
                         command[0] ? command : "?", rest, gap->parent);
    if (gap->count > 1)
        return jr_printf("%zu %s of %.*s", gap->count,
                         gap->parent ? "children" : "processes",
                         command[0] ? (int)program_length(command) : 1,
                         command[0] ? command : "?");
    if (gap->parent)
        return jr_printf("pid %" PRIu32 ", a child of %.*s%s (pid %" PRIu32 ")",
                         gap->pid, COMMAND_SHOWN, command, rest, gap->parent);
    if (command[0] == '\0')
        return jr_printf("pid %" PRIu32, gap->pid);
    return jr_printf("%.*s%s (pid %" PRIu32 ")", COMMAND_SHOWN, command, rest,
                     gap->pid);
}

static char *gap_text(const struct jr_gap *gap)
{
    char *title = gap_title(gap), *time = jr_duration(gap->cpu_ns), *text;

    if (gap->sampled_ns)
        text =
            jr_printf("%s: %.0f%% of %s of CPU time: %s", title,
                      jr_percent(gap->sampled_ns, gap->cpu_ns), time, gap->why);
    else
        text = jr_printf("%s: %s of CPU time, no samples: %s", title, time,
                         gap->why);
    free(title);
    free(time);
    return text;
}

/* One sentence for all gaps that are not shown. */
static char *more_gaps(const struct jr_cover *cover)
{
    uint64_t missing = 0;
    size_t count = 0;
    char *time, *text;

    for (size_t i = GAPS_SHOWN; i < cover->ngaps; i++) {
        count += cover->gaps[i].count;
        missing =
            jr_add(missing, cover->gaps[i].cpu_ns - cover->gaps[i].sampled_ns);
    }
    time = jr_duration(missing);
    text = jr_printf("%zu more processes: %s of CPU time without samples",
                     count, time);
    free(time);
    return text;
}

/* "TIME of CPU time WHAT"; NULL if the time is below REST_MIN_NS or one percent
 * of the whole. */
static char *part_text(const struct jr_cover *cover, uint64_t ns,
                       const char *what)
{
    char *time, *text;

    if (ns < REST_MIN_NS || ns < cover->cpu_ns / 100)
        return NULL;
    time = jr_duration(ns);
    text = jr_printf("%s of CPU time %s", time, what);
    free(time);
    return text;
}

/* What gaps do not tell of the rest. */
static uint64_t untold_ns(const struct jr_cover *cover)
{
    uint64_t told = 0;

    for (size_t i = 0; i < cover->ngaps; i++)
        if (cover->gaps[i].unseen)
            told = jr_add(told, cover->gaps[i].cpu_ns);
    return jr_cover_less(cover->rest_ns, told);
}

/* The i-th kind of CPU time that could not be sampled, as a sentence; NULL:
 * there are no more. */
static char *unsampled_text(const struct jr_cover *cover, size_t i)
{
    const struct {
        uint64_t ns;
        const char *what;
    } parts[] = {
        {cover->before_ns, "before profiling started: in exec, the loader and "
                           "jprof's initialization"},
        {cover->after_ns, "after profiling ended: in jprof's finalization, "
                          "destructors, and the kernel's release of memory"},
        {cover->edges_ns, "in the kernel, as threads began and ended, outside "
                          "of their clocks"},
        {untold_ns(cover), "in processes that are not profiled, and at the end "
                           "of processes of less than 50 ms"},
    };

    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++) {
        char *text = part_text(cover, parts[part].ns, parts[part].what);

        if (text && i-- == 0)
            return text;
        free(text);
    }
    return NULL;
}

char *jr_coverage_gap(const struct jr_report *report, size_t i)
{
    const struct jr_cover *cover = report->cover;
    size_t shown;

    if (!cover || !cover->known)
        return NULL;
    shown = cover->ngaps < GAPS_SHOWN ? cover->ngaps : GAPS_SHOWN;
    if (i < shown)
        return gap_text(&cover->gaps[i]);
    i -= shown;
    if (shown < cover->ngaps && i-- == 0)
        return more_gaps(cover);
    return unsampled_text(cover, i);
}
