/* SPDX-License-Identifier: MIT
 *
 * Writes real time in HTML: calls that blocked, and functions by thread state.
 * Runs in: analyzer. */
#include "html.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "write/figures.h"
#include "write/waits.h"

#define NS 1e9
#define NAME_SHOWN 200 /* bytes of a name */

static void put_escaped(FILE *out, const char *text)
{
    jr_html_text(out, text, NAME_SHOWN);
}

static void html_row(const struct jr_waits *page, uint64_t ns, double share,
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

static void html_waits(const struct jr_waits *page)
{
    uint64_t whole = 0;

    for (size_t i = 0; i < page->nwaits; i++)
        whole = jr_add(whole, page->waits[i].blocked_ns);
    fputs("<section class=\"times\" id=\"waits\">\n<h3>Blocking Calls</h3>\n"
          "<p class=\"sum\">Blocked time by the program's function that made "
          "the call, without threads that were always idle there: those "
          "stand beside it, or below."
          "</p>\n<table><thead><tr><th>Seconds</th><th>%Total</th>"
          "<th>&plusmn; s</th><th>Threads</th><th>Function: call</th></tr>"
          "</thead>\n<tbody>\n",
          page->out);
    for (size_t i = 0; i < page->nwaits && i < JR_WAITS_SHOWN; i++) {
        const struct jr_wait_row *wait = &page->waits[i];

        if (wait->blocked_ns == 0)
            continue;
        html_row(page, wait->blocked_ns, jr_percent(wait->blocked_ns, whole),
                 wait->error_ns);
        fprintf(page->out, "<td>%" PRIu64 "</td><td>", wait->threads);
        jr_waits_put(page, wait);
        if (wait->idle > 0)
            jr_waits_put_idle(page, wait);
        fputs("</td></tr>\n", page->out);
    }
    fputs("</tbody></table>\n", page->out);
    for (size_t i = 0; i < page->nwaits; i++) {
        const struct jr_wait_row *wait = &page->waits[i];

        if (wait->blocked_ns > 0 || wait->idle == 0)
            continue;
        fprintf(page->out, "<p class=\"sum\">%" PRIu64 " thread%s idle in ",
                wait->idle, jr_waits_plural(wait->idle));
        jr_waits_put(page, wait);
        fprintf(page->out, " (%.3f s)</p>\n", (double)wait->idle_ns / NS);
    }
    fputs("</section>\n", page->out);
}

static void html_times(const struct jr_waits *page)
{
    uint64_t whole = page->ntimes ? page->times[0].all_ns : 0;

    fputs("<section class=\"times\" id=\"times\">\n"
          "<h3>Time by Function and State</h3>\n"
          "<p class=\"sum\">Time of all threads with the function anywhere "
          "on the stack. Ready: waiting for a CPU, but directly after another "
          "wait, where it is in Blocked.</p>\n"
          "<table><thead><tr><th>Seconds</th><th>%First</th>"
          "<th>&plusmn; s</th><th>Running</th><th>Blocked</th><th>Ready</th>"
          "<th>Function Name</th></tr></thead>\n<tbody>\n",
          page->out);
    for (size_t i = 0; i < page->ntimes && i < JR_WAITS_SHOWN; i++) {
        const struct jr_time_row *time = &page->times[i];

        html_row(page, time->all_ns, jr_percent(time->all_ns, whole),
                 time->error_ns);
        for (int state = 0; state < JR_STATES; state++)
            fprintf(page->out, "<td>%.3f</td>", (double)time->ns[state] / NS);
        fputs("<td>", page->out);
        jr_waits_name(page, time->function);
        fputs("</td></tr>\n", page->out);
    }
    fputs("</tbody></table>\n</section>\n", page->out);
}

void jr_waits_html(const struct jr_report *report, FILE *out)
{
    struct jr_waits page;

    if (report->model->times.nthreads == 0)
        return;
    jr_waits_open(&page, report, out, put_escaped);
    if (page.nwaits > 0)
        html_waits(&page);
    html_times(&page);
    jr_waits_close(&page);
}
