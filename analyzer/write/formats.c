/* SPDX-License-Identifier: MIT
 *
 * The table of report formats.
 * Runs in: analyzer. */
#include <string.h>

#include "report.h"

const struct jr_format jr_formats[] = {
    {"html", ".html", jr_write_html},
    {"text", ".txt", jr_write_text},
    {"collapsed", ".collapsed", jr_write_collapsed},
    {"summary", ".summary", jr_write_summary},
    {"cleo", ".cleo", jr_write_cleo},
    {"annotate", ".annotate", jr_write_annotate},
    {NULL, NULL, NULL},
};

const struct jr_format *jr_format_find(const char *name)
{
    for (const struct jr_format *format = jr_formats; format->name; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}
