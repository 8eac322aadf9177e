/* SPDX-License-Identifier: MIT
 *
 * Writes real time as plain tables: calls that blocked, and functions by the
 * state of their threads.
 * Runs in: analyzer. */
#include <inttypes.h>

#include "base/weight.h"
#include "page.h"
#include "write/figures.h"
#include "write/html/html.h"
#include "write/waits.h"

#define NS 1e9
#define NAME_SHOWN 200 /* bytes of a name */

static void put_escaped(FILE *out, const char *text)
{
    jr_html_text(out, text, NAME_SHOWN);
}

static void put_seconds(FILE *out, uint64_t ns, double error_ns)
{
    fprintf(out, "<tr><td>%.3f</td><td>", (double)ns / NS);
    if (error_ns >= 0)
        fprintf(out, "%.3f", error_ns / NS);
    fputs("</td>", out);
}

static void put_calls(const struct jr_waits *waits)
{
    uint64_t whole = 0;
    size_t shown = 0;

    for (size_t i = 0; i < waits->nwaits; i++)
        whole = jr_add(whole, waits->waits[i].blocked_ns);
    fputs("<section id=\"waits\"><h2>Blocking Calls</h2>\n"
          "<p>Blocked time by the program's function that made the call, "
          "without threads that were always idle there."
          "</p>\n<table><thead><tr><th>Seconds</th><th>&plusmn; s</th>"
          "<th>%Total</th><th>Threads</th><th>Function: call</th></tr></thead>"
          "\n<tbody>\n",
          waits->out);
    for (size_t i = 0; i < waits->nwaits && i < JR_WAITS_SHOWN; i++) {
        const struct jr_wait_row *wait = &waits->waits[i];

        if (wait->blocked_ns == 0)
            continue;
        put_seconds(waits->out, wait->blocked_ns, wait->error_ns);
        fprintf(waits->out, "<td>%.1f%%</td><td>%" PRIu64 "</td><td>",
                jr_percent(wait->blocked_ns, whole), wait->threads);
        jr_waits_put(waits, wait);
        if (wait->idle > 0)
            jr_waits_put_idle(waits, wait);
        fputs("</td></tr>\n", waits->out);
    }
    fputs("</tbody></table>\n", waits->out);
    for (size_t i = 0; i < waits->nwaits && shown < JR_WAITS_SHOWN; i++) {
        const struct jr_wait_row *wait = &waits->waits[i];

        if (wait->blocked_ns > 0 || wait->idle == 0)
            continue;
        shown++;
        fprintf(waits->out, "<p>%" PRIu64 " thread%s idle in ", wait->idle,
                jr_waits_plural(wait->idle));
        jr_waits_put(waits, wait);
        fprintf(waits->out, " (%.3f s)</p>\n", (double)wait->idle_ns / NS);
    }
    fputs("</section>\n", waits->out);
}

static void put_times(const struct jr_waits *waits)
{
    fputs("<section id=\"times\"><h2>Time by Function and State</h2>\n"
          "<p>Time of all threads with the function anywhere on the stack. "
          "Ready: waiting for a CPU, but directly after another wait, where it "
          "is in Blocked.</p>\n<table><thead><tr><th>Seconds</th>"
          "<th>&plusmn; s</th><th>Running</th><th>Blocked</th><th>Ready</th>"
          "<th>Function Name</th></tr></thead>\n<tbody>\n",
          waits->out);
    for (size_t i = 0; i < waits->ntimes && i < JR_WAITS_SHOWN; i++) {
        const struct jr_time_row *time = &waits->times[i];

        put_seconds(waits->out, time->all_ns, time->error_ns);
        for (int state = 0; state < JR_STATES; state++)
            fprintf(waits->out, "<td>%.3f</td>", (double)time->ns[state] / NS);
        fputs("<td>", waits->out);
        jr_waits_name(waits, time->function);
        fputs("</td></tr>\n", waits->out);
    }
    fputs("</tbody></table></section>\n", waits->out);
}

void jr_page_waits(const struct jr_report *report, FILE *out)
{
    struct jr_waits waits;

    if (report->model->times.nthreads == 0)
        return;
    jr_waits_open(&waits, report, out, put_escaped);
    if (waits.nwaits > 0)
        put_calls(&waits);
    put_times(&waits);
    jr_waits_close(&waits);
}
