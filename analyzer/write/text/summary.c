/* SPDX-License-Identifier: MIT
 *
 * The summary: `key: value` lines with stable names, for scripts.  The manual
 * page jprof-report(1) defines each.
 * Runs in: analyzer. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/build.h"
#include "model/tiers.h"
#include "model/words.h"
#include "text.h"
#include "write/coverage.h"
#include "write/escape.h"
#include "write/facts.h"
#include "write/who.h"
#include "write/marks.h"
#include "write/report.h"
#include "write/selection.h"
#include "write/waits.h"

static void number(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, "%s: %" PRIu64 "\n", key, value);
}

static void text(FILE *out, const char *key, const char *value)
{
    fprintf(out, "%s: ", key);
    jr_put_text(out, value);
    fputc('\n', out);
}

static void quality(const struct jr_stats *total, FILE *out)
{
    number(out, "lost", jr_lost(total));
    for (unsigned i = 0; i < JR_LOST_COUNT; i++)
        if (total->lost[i])
            fprintf(out, "lost_%s: %" PRIu64 "\n", jr_lost_word(i),
                    total->lost[i]);
    fprintf(out, "lost_s: %.6f\n", (double)total->lost_ns / 1e9);
    number(out, "truncated", total->reasons[JP_REASON_DEPTH]);
    number(out, "incomplete", jr_incomplete(total));
    if (total->reasons[JP_REASON_FIBER])
        number(out, "fibers", total->reasons[JP_REASON_FIBER]);
    for (unsigned i = JP_REASON_ROOT + 1; i < JP_REASON_FIBER; i++)
        if (total->reasons[i])
            fprintf(out, "incomplete_%s: %" PRIu64 "\n", jr_reason_word(i),
                    total->reasons[i]);
    if (jr_rules(total)) {
        number(out, "rule_hits", total->rule_hits);
        number(out, "rule_misses", total->rule_misses);
        fprintf(out, "rule_hit_rate: %.4f\n",
                jr_percent(total->rule_hits, jr_rules(total)) / 100);
    }
    number(out, "frames", total->frames);
    number(out, "inlined_frames", total->inlined_frames);
    number(out, "lines_known", total->lines_known);
    number(out, "unnamed_frames", total->unnamed_frames);
    number(out, "jit_frames", total->jit_frames);
    number(out, "jit_named", total->jit_named);
    number(out, "jit_late", total->jit_late);
    number(out, "jit_files", total->jit_files);
    if (total->jit_bad_lines)
        number(out, "jit_bad_lines", total->jit_bad_lines);
    if (total->jit_mismatched)
        number(out, "jit_mismatched", total->jit_mismatched);
    if (total->jit_wiped)
        number(out, "jit_wiped", total->jit_wiped);
    if (total->jit_unread)
        number(out, "jit_unread", total->jit_unread);
}

/* Tiers and kinds of JIT code. */
static void tiers(const struct jr_model *model, FILE *out)
{
    size_t count;
    struct jr_tier_sum *sums = jr_part_tier_sums(model, &count);

    for (size_t i = 0; i < count; i++)
        fprintf(out, "jit_tier: weight=%" PRIu64 " functions=%zu name=%s\n",
                jr_periods(model, sums[i].self_ns), sums[i].functions,
                sums[i].word);
    free(sums);
}

static int is_real(uint32_t clock)
{
    return clock == JP_CLOCK_MONOTONIC || clock == JP_CLOCK_RTC;
}

/* Its machine, where there are several, without blanks. */
static void put_host(const char *host, FILE *out)
{
    char *word = host ? jr_strdup(host) : NULL;

    if (!word)
        return;
    for (char *at = word; *at; at++)
        *at = *at == ' ' ? '_' : *at;
    fputs(" host=", out);
    jr_put_text(out, word);
    free(word);
}

static void processes(const struct jr_model *model, FILE *out)
{
    struct jr_hosts hosts;

    jr_hosts_find(model, &hosts);
    for (size_t i = 0; i < model->nprocesses; i++) {
        const struct jr_process *process = &model->processes[i];

        char *role = jr_role_of(process);

        fprintf(out,
                "process: pid=%" PRIu32 " samples=%" PRIu64 " weight=%" PRIu64,
                process->run->header.pid, process->stats.samples,
                jr_periods(model, process->stats.weight_ns));
        if (role) {
            for (char *at = role; *at; at++)
                *at = *at == ' ' ? '_' : *at;
            fputs(" role=", out);
            jr_put_text(out, role);
        }
        free(role);
        put_host(jr_hosts_name(&hosts, i), out);
        fputs(" exe=", out);
        jr_put_text(out, jr_exe_of(process));
        fputc('\n', out);
    }
    jr_hosts_free(&hosts);
}

/* Modules whose code has no names, and what brings them. */
static void nameless(const struct jr_report *report, FILE *out)
{
    const struct jr_nameless_list *list = report->nameless;

    if (!list)
        return;
    number(out, "modules_without_names", list->all);
    for (size_t i = 0; i < list->count; i++) {
        const struct jr_nameless *item = &list->items[i];

        fprintf(out, "without_names: weight=%" PRIu64 " package=%s module=",
                jr_periods(report->model, item->weight_ns),
                item->package ? item->package : "");
        jr_put_text(out, item->module);
        fputs(" path=", out);
        jr_put_text(out, item->path ? item->path : "");
        fputc('\n', out);
    }
}

/* The coverage, and one line for each gap in it. */
static void coverage(const struct jr_cover *cover, FILE *out)
{
    if (!cover || !cover->known)
        return;
    fprintf(out, "coverage: %.4f\n", jr_coverage_percent(cover) / 100);
    fprintf(out, "covered_s: %.6f\n", (double)cover->sampled_ns / 1e9);
    fprintf(out, "cpu_all_s: %.6f\n", (double)cover->cpu_ns / 1e9);
    fprintf(out, "cpu_untraced_s: %.6f\n", (double)cover->rest_ns / 1e9);
    fprintf(out, "cpu_brief_s: %.6f\n", (double)cover->brief_ns / 1e9);
    fprintf(out, "cpu_before_s: %.6f\n", (double)cover->before_ns / 1e9);
    fprintf(out, "cpu_after_s: %.6f\n", (double)cover->after_ns / 1e9);
    fprintf(out, "cpu_edges_s: %.6f\n", (double)cover->edges_ns / 1e9);
    fprintf(out, "cpu_paused_s: %.6f\n", (double)cover->paused_ns / 1e9);
    fprintf(out, "cpu_looking_s: %.6f\n", (double)cover->looking_ns / 1e9);
    fprintf(out, "cpu_making_s: %.6f\n", (double)cover->making_ns / 1e9);
    fprintf(out, "cpu_kernel_threads_s: %.6f\n",
            (double)cover->kernel_ns / 1e9);
    fprintf(out, "cpu_overwritten_s: %.6f\n", (double)cover->cut_ns / 1e9);
    number(out, "coverage_whole", cover->whole);
    for (size_t i = 0; i < cover->ngaps; i++) {
        const struct jr_gap *gap = &cover->gaps[i];

        fprintf(out,
                "uncovered: processes=%zu pid=%" PRIu32
                " cpu_s=%.6f sampled_s=%.6f log=%u command=",
                gap->count, gap->pid, (double)gap->cpu_ns / 1e9,
                (double)gap->sampled_ns / 1e9, gap->has_log);
        jr_put_text(out, gap->command);
        fputs(" why=", out);
        jr_put_text(out, gap->why);
        fputc('\n', out);
    }
}

/* What the report is of, where that is not all. */
static void selection(const struct jr_model *model, FILE *out)
{
    char *filters = jr_selection_text(model);

    if (jr_selection_is_cut(model))
        fprintf(out, "kept_s: %.6f\n", (double)model->total.kept_ns / 1e9);
    if (filters)
        text(out, "filters", filters);
    free(filters);
}

void jr_write_summary(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    const struct jr_stats *total = &model->total;
    const struct jp_log_header *header = &model->processes[0].run->header;

    text(out, "program", report->app);
    number(out, "samples", total->samples);
    number(out, "weight", jr_periods(model, total->weight_ns));
    fprintf(out, "cpu_s: %.6f\n", (double)total->cpu_ns / 1e9);
    if (is_real(header->clock) || total->blocked_ns || total->ready_ns) {
        fprintf(out, "running_s: %.6f\n", (double)total->cpu_ns / 1e9);
        fprintf(out, "blocked_s: %.6f\n", (double)total->blocked_ns / 1e9);
        fprintf(out, "ready_s: %.6f\n", (double)total->ready_ns / 1e9);
        fprintf(out, "after_last_s: %.6f\n", (double)total->open_ns / 1e9);
        number(out, "after_last_threads", total->open);
    }
    fprintf(out, "wall_s: %.6f\n", (double)total->wall_ns / 1e9);
    selection(model, out);
    coverage(report->cover, out);
    quality(total, out);
    nameless(report, out);
    text(out, "clock", jr_clock_word(header->clock));
    text(out, "stack", jr_walker_word(header->walker));
    fprintf(out, "rate_asked_hz: %.3f\n", 1e9 / (double)model->period_ns);
    fprintf(out, "rate_got_hz: %.3f\n",
            fmin(jr_rate_got(total), 1e9 / (double)model->period_ns));
    if (model->times.nthreads > 0)
        fprintf(out, "rate_all_hz: %.3f\n", jr_rate_all(total));
    if (total->lowered_ns) {
        text(out, "rate_lowered", "handler time");
        fprintf(out, "lowered_hz: %.3f\nlowered_s: %.6f\n",
                jr_rate_lowered(total), (double)total->lowered_ns / 1e9);
    }
    number(out, "processes", model->nprocesses);
    number(out, "threads", total->threads);
    number(out, "sections", total->sections);
    number(out, "filtered", total->filtered);
    number(out, "changed_binaries", report->changed);
    number(out, "notes", report->nnotes);
    for (size_t i = 0; i < report->nnotes; i++)
        text(out, "note", report->notes[i]);
    tiers(model, out);
    jr_waits_summary(report, out);
    if (model->marks.count > 0)
        jr_marks_summary(report, out);
    processes(model, out);
}
