/* SPDX-License-Identifier: MIT
 *
 * The rows of the table of formats, and who looks one up.
 * Runs in: analyzer. */
#include "formats.h"

#include <stdlib.h>
#include <string.h>

#include "archive/archive.h"
#include "base/mem.h"
#include "write/annotate.h"
#include "write/diff/diff.h"
#include "write/export/export.h"
#include "write/html/html.h"
#include "write/page/page.h"
#include "write/text/text.h"

const struct jr_format jr_formats[] = {
    {"html", ".html", jr_write_page,
     JR_NEEDS_PATHS | JR_NEEDS_CALLS | JR_NEEDS_CODE | JR_NEEDS_SAMPLE_LIST,
     JR_ANNOTATE_MAY, "a page with flame graph, timeline and tables (default)"},
    {"html-plain", ".html", jr_write_html,
     JR_NEEDS_PATHS | JR_NEEDS_CALLS | JR_NEEDS_CODE, JR_ANNOTATE_MAY,
     "both profiles of all functions as a page of tables"},
    {"text", ".txt", jr_write_text, JR_NEEDS_PATHS | JR_NEEDS_CALLS,
     JR_ANNOTATE_NO, "both profiles as plain text"},
    {"collapsed", ".collapsed", jr_write_collapsed, JR_NEEDS_PATHS,
     JR_ANNOTATE_NO, "a line a stack, for flame graphs"},
    {"pprof", ".pb.gz", jr_write_pprof,
     JR_NEEDS_PATHS | JR_NEEDS_PLACES | JR_NEEDS_EVENT_SUMS, JR_ANNOTATE_NO,
     "for pprof, Pyroscope and Parca (gzip)"},
    {"push", ".push", jr_write_push,
     JR_NEEDS_PATHS | JR_NEEDS_PLACES | JR_NEEDS_EVENT_SUMS, JR_ANNOTATE_NO,
     "pprof in small messages, as jprof push takes them"},
    {"speedscope", ".speedscope.json", jr_write_speedscope,
     JR_NEEDS_PATHS | JR_NEEDS_PLACES | JR_NEEDS_REPLAY, JR_ANNOTATE_NO,
     "for speedscope.app"},
    {"firefox", ".firefox.json", jr_write_firefox,
     JR_NEEDS_PATHS | JR_NEEDS_PLACES | JR_NEEDS_REPLAY, JR_ANNOTATE_NO,
     "for profiler.firefox.com"},
    {"callgrind", ".callgrind", jr_write_callgrind,
     JR_NEEDS_PATHS | JR_NEEDS_PLACES | JR_NEEDS_EVENT_SUMS, JR_ANNOTATE_NO,
     "for KCachegrind and callgrind_annotate"},
    {"perf-script", ".linux-perf.txt", jr_write_perf_script,
     JR_NEEDS_PATHS | JR_NEEDS_PLACES | JR_NEEDS_REPLAY, JR_ANNOTATE_NO,
     "text as perf script writes it, each sample"},
    {"summary", ".summary", jr_write_summary, 0, JR_ANNOTATE_NO,
     "figures for scripts"},
    {"archive", ".tar.zst", jr_write_archive,
     JR_NEEDS_PATHS | JR_NEEDS_CODE | JR_NEEDS_LOOKUPS, JR_ANNOTATE_NO,
     "the profile with the names it needs, to be read elsewhere"},
    {"cleo", ".cleo", jr_write_cleo, JR_NEEDS_PATHS, JR_ANNOTATE_NO,
     "lines for the Cleo tool"},
    {"annotate", ".annotate", jr_write_annotate, JR_NEEDS_PATHS | JR_NEEDS_CODE,
     JR_ANNOTATE_MUST, "lines and code of functions (default with --annotate)"},
    {.name = NULL},
};

const struct jr_format *jr_format_find(const char *name)
{
    for (const struct jr_format *format = jr_formats; format->name; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

const struct jr_format *jr_format_compares(const struct jr_format *format)
{
    static struct jr_format text;

    if (format->write == jr_write_page)
        return format;
    if (format->write != jr_write_text)
        return NULL;
    text = *format;
    text.write = jr_write_diff;
    return &text;
}

const struct jr_format *jr_format_annotated(void)
{
    const struct jr_format *format = jr_formats;

    while (format->name && format->annotate != JR_ANNOTATE_MUST)
        format++;
    return format;
}

char *jr_format_names(int annotated)
{
    const char *names[sizeof(jr_formats) / sizeof(*jr_formats)];
    size_t count = 0;
    char *list = jr_strdup("");

    for (const struct jr_format *format = jr_formats; format->name; format++)
        if (!annotated || format->annotate != JR_ANNOTATE_NO)
            names[count++] = format->name;
    for (size_t i = 0; i < count; i++) {
        char *longer = jr_printf("%s%s%s", list,
                                 i == 0           ? ""
                                 : i + 1 == count ? " and "
                                                  : ", ",
                                 names[i]);

        free(list);
        list = longer;
    }
    return list;
}
