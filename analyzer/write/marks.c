/* SPDX-License-Identifier: MIT
 *
 * Writes the marks of the program: spans and marks by name, how many, how long,
 * and when.
 * Runs in: analyzer. */
#include "marks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "escape.h"
#include "model/span.h"

#define NS 1e9
#define LISTED 200 /* lines of the summary, of spans and of marks */

/* Seconds after the profile's start, as --from takes them. */
static double since(const struct jr_model *model, const struct jr_mark_sum *sum)
{
    const uint64_t zero =
        jr_span_zero(&model->filter, &model->processes[sum->first_process]);

    return (int64_t)(sum->first_ns - zero) > 0
               ? (double)(sum->first_ns - zero) / NS
               : 0;
}

static void put_span(const struct jr_model *model,
                     const struct jr_mark_sum *sum, FILE *out)
{
    fprintf(out, "%8" PRIu64 "  %12.6f  %12.6f  %12.6f  ", sum->count,
            (double)sum->total_ns / NS, (double)sum->longest_ns / NS,
            since(model, sum));
    jr_put_text(out, model->marks.names[sum->name]);
    if (sum->open > 0)
        fprintf(out, "  (%" PRIu64 " without begin or end)", sum->open);
    fputc('\n', out);
}

static void put_point(const struct jr_model *model,
                      const struct jr_mark_sum *sum, FILE *out)
{
    fprintf(out, "%8" PRIu64 "  %40.6f  ", sum->count, since(model, sum));
    jr_put_text(out, model->marks.names[sum->name]);
    fputc('\n', out);
}

/* The sums with is_span as asked, and a line for those left out. */
static void put_sums(const struct jr_model *model,
                     const struct jr_mark_sum *sums, size_t count, FILE *out)
{
    for (size_t i = 0; i < count && i < JR_MARKS_SHOWN; i++)
        if (sums[i].is_span)
            put_span(model, &sums[i], out);
        else
            put_point(model, &sums[i], out);
    if (count > JR_MARKS_SHOWN)
        fprintf(out, "%8s  %zu more names\n", "", count - JR_MARKS_SHOWN);
}

void jr_marks_text(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    size_t count, spans = 0;
    struct jr_mark_sum *sums = jr_marks_sums(&model->marks, &count);

    while (spans < count && sums[spans].is_span)
        spans++;
    if (spans > 0) {
        fputs("\nSpans of the Program\n\n"
              "   Count       Total s     Longest s     at second  Name\n",
              out);
        put_sums(model, sums, spans, out);
    }
    if (count > spans) {
        fputs("\nMarks of the Program\n\n"
              "   Count                           First at second  Name\n",
              out);
        put_sums(model, sums + spans, count - spans, out);
    }
    free(sums);
}

void jr_marks_summary(const struct jr_report *report, FILE *out)
{
    const struct jr_model *model = report->model;
    size_t count, listed[2] = {0, 0};
    struct jr_mark_sum *sums = jr_marks_sums(&model->marks, &count);
    uint64_t lost = 0;

    for (size_t i = 0; i < model->nprocesses; i++)
        lost = jr_add(
            lost,
            model->processes[i].run->header.counters[JP_COUNT_LOST_MARKS]);
    fprintf(out, "marks: %zu\nlost_marks: %" PRIu64 "\n", model->marks.count,
            lost);
    for (size_t i = 0; i < count; i++) {
        const struct jr_mark_sum *sum = &sums[i];

        if (listed[sum->is_span]++ >= LISTED)
            continue;
        if (sum->is_span)
            fprintf(out,
                    "span: count=%" PRIu64 " total_s=%.6f longest_s=%.6f "
                    "longest_at_s=%.6f open=%" PRIu64 " name=",
                    sum->count, (double)sum->total_ns / NS,
                    (double)sum->longest_ns / NS, since(model, sum), sum->open);
        else
            fprintf(out,
                    "mark: count=%" PRIu64 " first_at_s=%.6f name=", sum->count,
                    since(model, sum));
        jr_put_text(out, model->marks.names[sum->name]);
        fputc('\n', out);
    }
    free(sums);
}
