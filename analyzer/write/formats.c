/* SPDX-License-Identifier: MIT
 *
 * The table of report formats.
 * Runs in: analyzer. */
#include <string.h>

#include "report.h"

const struct jr_format jr_formats[] = {
    {"html", ".html", jr_write_html, 1},
    {"text", ".txt", jr_write_text, 0},
    {"collapsed", ".collapsed", jr_write_collapsed, 0},
    {"summary", ".summary", jr_write_summary, 0},
    {"cleo", ".cleo", jr_write_cleo, 0},
    {"annotate", ".annotate", jr_write_annotate, 1},
    {NULL, NULL, NULL, 0},
};

const struct jr_format *jr_format_find(const char *name)
{
    for (const struct jr_format *format = jr_formats; format->name; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}
