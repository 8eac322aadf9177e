/* SPDX-License-Identifier: MIT
 *
 * Real time in a report: what blocked, and the time of functions by state, each
 * with its standard error.
 * Runs in: analyzer. */
#include "waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "facts.h"
#include "html.h"

#define NS 1e9
#define SHOWN 40            /* functions, and waits, for people */
#define NAME_SHOWN 200      /* bytes of a name in HTML */
#define LISTED 200          /* for scripts */

/* What the sections show, and how a name is written there. */
struct page {
    const struct jr_model *model;
    struct jr_wait_row *waits;
    struct jr_time_row *times;
    size_t nwaits, ntimes;
    FILE *out;
    void (*put)(FILE *out, const char *text);
};

static void open_page(struct page *page, const struct jr_report *report,
                      FILE *out)
{
    *page = (struct page){.model = report->model, .out = out};
    page->waits = jr_waits_rows(report->model, &page->nwaits);
    page->times = jr_times_rows(report->model, &page->ntimes);
}

static void close_page(struct page *page)
{
    free(page->waits);
    free(page->times);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What the program called: jprof's hooks stand where the C library's functions
 * would. */
static const char *call_name(const struct jr_function *function)
{
    static const char hook[] = "jp_hook_";
    const char *module = strrchr(function->module, '/');

    module = module ? module + 1 : function->module;
    return strcmp(module, "libjprof.so") == 0 &&
                   strncmp(function->name, hook, sizeof(hook) - 1) == 0
               ? function->name + sizeof(hook) - 1
               : function->name;
}

/* "function: call" */
static void put_wait(const struct page *page, const struct jr_wait_row *wait)
{
    page->put(page->out, page->model->functions[wait->function].name);
    if (wait->call == wait->function)
        return;
    fputs(": ", page->out);
    page->put(page->out, call_name(&page->model->functions[wait->call]));
}

static void put_plain(FILE *out, const char *text)
{
    jr_put_text(out, text);
}

static void put_escaped(FILE *out, const char *text)
{
    jr_html_text(out, text, NAME_SHOWN);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void text_waits(const struct page *page)
{
    size_t shown = 0;

    fputs("\nWhat Blocked\n\n", page->out);
    fputs(" Blocked s       +/-  Threads  Function: call\n", page->out);
    for (size_t i = 0; i < page->nwaits && shown < SHOWN; i++) {
        const struct jr_wait_row *wait = &page->waits[i];

        if (wait->blocked_ns == 0)
            continue;
        shown++;
        fprintf(page->out, "%10.3f %9.3f %8" PRIu64 "  ",
                (double)wait->blocked_ns / NS, wait->error_ns / NS,
                wait->threads);
        put_wait(page, wait);
        fputc('\n', page->out);
    }
    shown = 0;
    for (size_t i = 0; i < page->nwaits && shown < SHOWN; i++) {
        const struct jr_wait_row *wait = &page->waits[i];

        if (wait->idle == 0)
            continue;
        shown++;
        fprintf(page->out, "%10.3f %9s %8" PRIu64 "  ",
                (double)wait->idle_ns / NS, "", wait->idle);
        put_wait(page, wait);
        fprintf(page->out, "  (thread%s idle there all the time)\n",
                plural(wait->idle));
    }
}

static void text_times(const struct page *page)
{
    fputs("\nTime by Function and State\n\n", page->out);
    fputs("   Total s       +/-   Running   Blocked     Ready  Function Name\n",
          page->out);
    for (size_t i = 0; i < least(page->ntimes, SHOWN); i++) {
        const struct jr_time_row *time = &page->times[i];

        fprintf(page->out, "%10.3f %9.3f %9.3f %9.3f %9.3f  ",
                (double)time->all_ns / NS, time->error_ns / NS,
                (double)time->ns[JR_RUNNING] / NS,
                (double)time->ns[JR_BLOCKED] / NS,
                (double)time->ns[JR_READY] / NS);
        page->put(page->out, page->model->functions[time->function].name);
        fputc('\n', page->out);
    }
}

void jr_waits_text(const struct jr_report *report, FILE *out)
{
    struct page page;

    if (report->model->times.nthreads == 0)
        return;
    open_page(&page, report, out);
    page.put = put_plain;
    if (page.nwaits > 0)
        text_waits(&page);
    text_times(&page);
    close_page(&page);
}

static void html_row(const struct page *page, uint64_t ns, double share,
                     double error_ns)
{
    fprintf(page->out,
            "<tr><td>%.3f</td><td style=\"--w:%.4f\"><i>%.1f%%</i></td>",
            (double)ns / NS, share / 100, share);
    if (error_ns >= 0)
        fprintf(page->out, "<td>%.3f</td>", error_ns / NS);
    else
        fputs("<td></td>", page->out);
}

static void html_waits(const struct page *page)
{
    uint64_t whole = 0;

    for (size_t i = 0; i < page->nwaits; i++)
        whole = jr_add(whole, page->waits[i].blocked_ns);
    fputs("<section class=\"times\" id=\"waits\">\n<h3>What Blocked</h3>\n"
          "<p class=\"sum\">By the function of the program that called the "
          "wait; threads that waited in one place all the time are below."
          "</p>\n<table><thead><tr><th>Seconds</th><th>%Total</th>"
          "<th>&plusmn; s</th><th>Threads</th><th>Function: call</th></tr>"
          "</thead>\n<tbody>\n",
          page->out);
    for (size_t i = 0; i < least(page->nwaits, SHOWN); i++) {
        const struct jr_wait_row *wait = &page->waits[i];

        if (wait->blocked_ns == 0)
            continue;
        html_row(page, wait->blocked_ns, jr_percent(wait->blocked_ns, whole),
                 wait->error_ns);
        fprintf(page->out, "<td>%" PRIu64 "</td><td>", wait->threads);
        put_wait(page, wait);
        fputs("</td></tr>\n", page->out);
    }
    fputs("</tbody></table>\n", page->out);
    for (size_t i = 0; i < page->nwaits; i++) {
        const struct jr_wait_row *wait = &page->waits[i];

        if (wait->idle == 0)
            continue;
        fprintf(page->out, "<p class=\"sum\">%" PRIu64 " thread%s idle in ",
                wait->idle, plural(wait->idle));
        put_wait(page, wait);
        fprintf(page->out, " (%.3f s)</p>\n", (double)wait->idle_ns / NS);
    }
    fputs("</section>\n", page->out);
}

static void html_times(const struct page *page)
{
    uint64_t whole = page->ntimes ? page->times[0].all_ns : 0;

    fputs("<section class=\"times\" id=\"times\">\n"
          "<h3>Time by Function and State</h3>\n"
          "<p class=\"sum\">Of all threads together, with the function "
          "anywhere on the stack. Ready: waiting for a CPU.</p>\n"
          "<table><thead><tr><th>Seconds</th><th>%First</th>"
          "<th>&plusmn; s</th><th>Running</th><th>Blocked</th><th>Ready</th>"
          "<th>Function Name</th></tr></thead>\n<tbody>\n",
          page->out);
    for (size_t i = 0; i < least(page->ntimes, SHOWN); i++) {
        const struct jr_time_row *time = &page->times[i];

        html_row(page, time->all_ns, jr_percent(time->all_ns, whole),
                 time->error_ns);
        for (int state = 0; state < JR_STATES; state++)
            fprintf(page->out, "<td>%.3f</td>", (double)time->ns[state] / NS);
        fputs("<td>", page->out);
        page->put(page->out, page->model->functions[time->function].name);
        fputs("</td></tr>\n", page->out);
    }
    fputs("</tbody></table>\n</section>\n", page->out);
}

void jr_waits_html(const struct jr_report *report, FILE *out)
{
    struct page page;

    if (report->model->times.nthreads == 0)
        return;
    open_page(&page, report, out);
    page.put = put_escaped;
    if (page.nwaits > 0)
        html_waits(&page);
    html_times(&page);
    close_page(&page);
}

void jr_waits_summary(const struct jr_report *report, FILE *out)
{
    struct page page;

    if (report->model->times.nthreads == 0)
        return;
    open_page(&page, report, out);
    page.put = put_plain;
    for (size_t i = 0; i < least(page.nwaits, LISTED); i++) {
        const struct jr_wait_row *wait = &page.waits[i];

        fprintf(out, "wait: blocked_s=%.6f error_s=%.6f threads=%" PRIu64
                     " idle=%" PRIu64 " idle_s=%.6f name=",
                (double)wait->blocked_ns / NS, wait->error_ns / NS,
                wait->threads, wait->idle, (double)wait->idle_ns / NS);
        put_wait(&page, wait);
        fputc('\n', out);
    }
    for (size_t i = 0; i < least(page.ntimes, LISTED); i++) {
        const struct jr_time_row *time = &page.times[i];

        fprintf(out, "time: all_s=%.6f error_s=%.6f running_s=%.6f "
                     "blocked_s=%.6f ready_s=%.6f name=",
                (double)time->all_ns / NS, time->error_ns / NS,
                (double)time->ns[JR_RUNNING] / NS,
                (double)time->ns[JR_BLOCKED] / NS,
                (double)time->ns[JR_READY] / NS);
        put_plain(out, page.model->functions[time->function].name);
        fputc('\n', out);
    }
    close_page(&page);
}
