/* SPDX-License-Identifier: MIT
 *
 * Writes real time as text and in the summary: calls that blocked, and time of
 * functions by thread state, each with its standard error.
 * Runs in: analyzer. */
#include "waits.h"

#include <inttypes.h>
#include <stdlib.h>

#include "escape.h"
#include "figures.h"

#define NS 1e9
#define LISTED 200 /* lines of the summary */

void jr_waits_open(struct jr_waits *page, const struct jr_report *report,
                   FILE *out, void (*put)(FILE *out, const char *text))
{
    *page = (struct jr_waits){.model = report->model, .out = out, .put = put};
    page->waits = jr_waits_rows(report->model, &page->nwaits);
    page->times = jr_times_rows(report->model, &page->ntimes);
}

void jr_waits_close(struct jr_waits *page)
{
    free(page->waits);
    free(page->times);
}

void jr_waits_name(const struct jr_waits *page, uint32_t function)
{
    const struct jr_function *named = &page->model->functions[function];

    page->put(page->out, named->name);
    if (named->inlined)
        fputs(JR_INLINED, page->out);
}

void jr_waits_put(const struct jr_waits *page, const struct jr_wait_row *wait)
{
    jr_waits_name(page, wait->function);
    if (wait->call == wait->function)
        return;
    fputs(": ", page->out);
    jr_waits_name(page, wait->call);
}

void jr_waits_put_idle(const struct jr_waits *page,
                       const struct jr_wait_row *wait)
{
    fprintf(page->out,
            "  (besides, %" PRIu64 " thread%s always idle there: "
            "%.3f s)",
            wait->idle, jr_waits_plural(wait->idle),
            (double)wait->idle_ns / NS);
}

static void put_plain(FILE *out, const char *text)
{
    jr_put_text(out, text);
}

const char *jr_waits_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void text_wait(const struct jr_waits *page,
                      const struct jr_wait_row *wait)
{
    const int mixed = wait->blocked_ns > 0;

    if (mixed)
        fprintf(page->out, "%10.3f %9.3f %8" PRIu64 "  ",
                (double)wait->blocked_ns / NS, wait->error_ns / NS,
                wait->threads);
    else
        fprintf(page->out, "%10.3f %9s %8" PRIu64 "  ",
                (double)wait->idle_ns / NS, "", wait->idle);
    jr_waits_put(page, wait);
    if (mixed && wait->idle > 0)
        jr_waits_put_idle(page, wait);
    else if (!mixed)
        fprintf(page->out, "  (thread%s always idle there)",
                jr_waits_plural(wait->idle));
    fputc('\n', page->out);
}

/* The calls of threads that did other things as well, then those of others. */
static void text_waits(const struct jr_waits *page)
{
    fputs("\nBlocking Calls\n\n", page->out);
    fputs(" Blocked s       +/-  Threads  Function: call\n", page->out);
    for (int mixed = 1; mixed >= 0; mixed--) {
        size_t shown = 0;

        for (size_t i = 0; i < page->nwaits && shown < JR_WAITS_SHOWN; i++) {
            if ((page->waits[i].blocked_ns > 0) != mixed)
                continue;
            text_wait(page, &page->waits[i]);
            shown++;
        }
    }
}

static void text_times(const struct jr_waits *page)
{
    fputs("\nTime by Function and State\n\n", page->out);
    fputs("   Total s       +/-   Running   Blocked     Ready  Function Name\n",
          page->out);
    for (size_t i = 0; i < page->ntimes && i < JR_WAITS_SHOWN; i++) {
        const struct jr_time_row *time = &page->times[i];

        fprintf(page->out, "%10.3f %9.3f %9.3f %9.3f %9.3f  ",
                (double)time->all_ns / NS, time->error_ns / NS,
                (double)time->ns[JR_RUNNING] / NS,
                (double)time->ns[JR_BLOCKED] / NS,
                (double)time->ns[JR_READY] / NS);
        jr_waits_name(page, time->function);
        fputc('\n', page->out);
    }
}

void jr_waits_text(const struct jr_report *report, FILE *out)
{
    struct jr_waits page;

    if (report->model->times.nthreads == 0)
        return;
    jr_waits_open(&page, report, out, put_plain);
    if (page.nwaits > 0)
        text_waits(&page);
    text_times(&page);
    jr_waits_close(&page);
}

void jr_waits_summary(const struct jr_report *report, FILE *out)
{
    struct jr_waits page;

    if (report->model->times.nthreads == 0)
        return;
    jr_waits_open(&page, report, out, put_plain);
    for (size_t i = 0; i < page.nwaits && i < LISTED; i++) {
        const struct jr_wait_row *wait = &page.waits[i];

        fprintf(out,
                "wait: blocked_s=%.6f error_s=%.6f threads=%" PRIu64
                " idle=%" PRIu64 " idle_s=%.6f name=",
                (double)wait->blocked_ns / NS, wait->error_ns / NS,
                wait->threads, wait->idle, (double)wait->idle_ns / NS);
        jr_waits_put(&page, wait);
        fputc('\n', out);
    }
    for (size_t i = 0; i < page.ntimes && i < LISTED; i++) {
        const struct jr_time_row *time = &page.times[i];

        fprintf(out,
                "time: all_s=%.6f error_s=%.6f running_s=%.6f "
                "blocked_s=%.6f ready_s=%.6f name=",
                (double)time->all_ns / NS, time->error_ns / NS,
                (double)time->ns[JR_RUNNING] / NS,
                (double)time->ns[JR_BLOCKED] / NS,
                (double)time->ns[JR_READY] / NS);
        jr_waits_name(&page, time->function);
        fputc('\n', out);
    }
    jr_waits_close(&page);
}
