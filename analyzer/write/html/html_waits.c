/* SPDX-License-Identifier: MIT
 *
 * Writes real time as tables of both HTML reports: calls that blocked, and
 * functions by the state of their threads.
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

/* What differs between the pages. */
struct style {
    const char *section, *paragraph; /* attributes */
    const char *heading, *newline;   /* element; between elements */
    const char *idle_note;
    size_t most_idle; /* lines of threads that are idle */
    int has_bars;     /* the share is the second column, drawn as a bar; else
                         the third, and only of calls */
};

static const struct style styles[] = {
    [JR_WAITS_PLAIN] = {" class=\"times\"", " class=\"sum\"", "h3", "\n",
                        ": those stand beside it, or below", SIZE_MAX, 1},
    [JR_WAITS_PAGE] = {"", "", "h2", "", "", JR_WAITS_SHOWN, 0}};

static void put_head(const struct jr_waits *waits, const struct style *style,
                     const char *id, const char *title)
{
    fprintf(waits->out, "<section%s id=\"%s\">%s<%s>%s</%s>\n<p%s>",
            style->section, id, style->newline, style->heading, title,
            style->heading, style->paragraph);
}

static void put_figures(const struct jr_waits *waits, const struct style *style,
                        uint64_t ns, double share, double error_ns)
{
    fprintf(waits->out, "<tr><td>%.3f</td>", (double)ns / NS);
    if (style->has_bars)
        fprintf(waits->out, "<td style=\"--w:%.4f\"><i>%.1f%%</i></td>",
                share / 100, share);
    if (error_ns >= 0)
        fprintf(waits->out, "<td>%.3f</td>", error_ns / NS);
    else
        fputs("<td></td>", waits->out);
}

static void put_idle(const struct jr_waits *waits, const struct style *style)
{
    size_t shown = 0;

    for (size_t i = 0; i < waits->nwaits && shown < style->most_idle; i++) {
        const struct jr_wait_row *wait = &waits->waits[i];

        if (wait->blocked_ns > 0 || wait->idle == 0)
            continue;
        shown++;
        fprintf(waits->out, "<p%s>%" PRIu64 " thread%s idle in ",
                style->paragraph, wait->idle, jr_waits_plural(wait->idle));
        jr_waits_put(waits, wait);
        fprintf(waits->out, " (%.3f s)</p>\n", (double)wait->idle_ns / NS);
    }
}

static void put_calls(const struct jr_waits *waits, const struct style *style)
{
    uint64_t whole = 0;

    for (size_t i = 0; i < waits->nwaits; i++)
        whole = jr_add(whole, waits->waits[i].blocked_ns);
    put_head(waits, style, "waits", "Blocking Calls");
    fprintf(waits->out,
            "Blocked time by the program's function that made the call, "
            "without threads that were always idle there%s.</p>\n"
            "<table><thead><tr><th>Seconds</th>%s<th>Threads</th>"
            "<th>Function: call</th></tr></thead>\n<tbody>\n",
            style->idle_note,
            style->has_bars ? "<th>%Total</th><th>&plusmn; s</th>"
                            : "<th>&plusmn; s</th><th>%Total</th>");
    for (size_t i = 0; i < waits->nwaits && i < JR_WAITS_SHOWN; i++) {
        const struct jr_wait_row *wait = &waits->waits[i];
        const double share = jr_percent(wait->blocked_ns, whole);

        if (wait->blocked_ns == 0)
            continue;
        put_figures(waits, style, wait->blocked_ns, share, wait->error_ns);
        if (!style->has_bars)
            fprintf(waits->out, "<td>%.1f%%</td>", share);
        fprintf(waits->out, "<td>%" PRIu64 "</td><td>", wait->threads);
        jr_waits_put(waits, wait);
        if (wait->idle > 0)
            jr_waits_put_idle(waits, wait);
        fputs("</td></tr>\n", waits->out);
    }
    fputs("</tbody></table>\n", waits->out);
    put_idle(waits, style);
    fputs("</section>\n", waits->out);
}

static void put_times(const struct jr_waits *waits, const struct style *style)
{
    const uint64_t whole = waits->ntimes ? waits->times[0].all_ns : 0;

    put_head(waits, style, "times", "Time by Function and State");
    fprintf(waits->out,
            "Time of all threads with the function anywhere on the stack. "
            "Ready: waiting for a CPU, but directly after another wait, where "
            "it is in Blocked.</p>\n<table><thead><tr><th>Seconds</th>%s"
            "<th>&plusmn; s</th><th>Running</th><th>Blocked</th><th>Ready</th>"
            "<th>Function Name</th></tr></thead>\n<tbody>\n",
            style->has_bars ? "<th>%First</th>" : "");
    for (size_t i = 0; i < waits->ntimes && i < JR_WAITS_SHOWN; i++) {
        const struct jr_time_row *time = &waits->times[i];

        put_figures(waits, style, time->all_ns, jr_percent(time->all_ns, whole),
                    time->error_ns);
        for (int state = 0; state < JR_STATES; state++)
            fprintf(waits->out, "<td>%.3f</td>", (double)time->ns[state] / NS);
        fputs("<td>", waits->out);
        jr_waits_name(waits, time->function);
        fputs("</td></tr>\n", waits->out);
    }
    fprintf(waits->out, "</tbody></table>%s</section>\n", style->newline);
}

void jr_waits_html(const struct jr_report *report, enum jr_waits_page page,
                   FILE *out)
{
    struct jr_waits waits;

    if (report->model->times.nthreads == 0)
        return;
    jr_waits_open(&waits, report, out, put_escaped);
    if (waits.nwaits > 0)
        put_calls(&waits, &styles[page]);
    put_times(&waits, &styles[page]);
    jr_waits_close(&waits);
}
