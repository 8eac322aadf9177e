/* SPDX-License-Identifier: MIT
 *
 * Progress on stderr: one line that is written over.
 * Runs in: analyzer. */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

#define FIRST_AFTER_NS 1000000000ULL
#define EVERY_NS 200000000ULL
#define WIPE "\r\033[K"
#define WHAT_MAX 256 /* bytes of it that are shown */

void jr_progress_start(struct jr_progress *progress)
{
    *progress = (struct jr_progress){.step = "reading",
                                     .start_ns = jr_now_ns(CLOCK_MONOTONIC),
                                     .wanted = isatty(STDERR_FILENO)};
}

void jr_progress_show(void *data, uint64_t done, uint64_t total)
{
    struct jr_progress *progress = data;
    char what[WHAT_MAX];
    uint64_t now;

    if (!progress->wanted)
        return;
    now = jr_now_ns(CLOCK_MONOTONIC);
    if (now - progress->start_ns < FIRST_AFTER_NS ||
        now - progress->last_ns < EVERY_NS)
        return;
    progress->last_ns = now;
    progress->shown = 1;
    /* A log's name is not ours. */
    snprintf(what, sizeof what, "%s%s%s", progress->step ? progress->step : "",
             progress->step && progress->what ? " " : "",
             progress->what ? progress->what : "");
    jr_utf8_blank(what);
    if (total > 0)
        fprintf(stderr, WIPE "jprof-report: %s: %.0f%%", what,
                100.0 * (double)done / (double)total);
    else
        fprintf(stderr, WIPE "jprof-report: %s", what);
    fflush(stderr);
}

void jr_progress_wipe(struct jr_progress *progress)
{
    if (!progress->shown)
        return;
    fputs(WIPE, stderr);
    fflush(stderr);
    progress->shown = 0;
}
