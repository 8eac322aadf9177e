/* SPDX-License-Identifier: MIT
 *
 * Prints what the programs have to say on stderr and counts what of its input
 * could not be used.
 * Runs in: analyzer. */
#include "diag.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "utf8.h"

#define PRINTED_MAX 20 /* warnings; those after are only counted */
#define TEXT_MAX 8192  /* bytes of one message */

const char *jr_diag_program = "jprof-report";

static void print_line(const char *place, char *text)
{
    jr_utf8_blank(text);
    fprintf(stderr, "%s: %s%s\n", jr_diag_program, place, text);
}

void jr_warn(struct jr_diag *diag, const char *file, uint64_t offset,
             const char *format, ...)
{
    char place[TEXT_MAX];
    char text[TEXT_MAX];
    va_list args;

    diag->warnings++;
    if (diag->silent)
        return;
    if (diag->warnings > PRINTED_MAX) {
        diag->muted++;
        return;
    }
    if (offset == JR_NO_OFFSET)
        snprintf(place, sizeof place, "%s: ", file);
    else
        snprintf(place, sizeof place, "%s: at 0x%" PRIx64 ": ", file, offset);
    jr_utf8_blank(place);
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    print_line(place, text);
}

void jr_say_args(const char *format, va_list args)
{
    char text[TEXT_MAX];

    vsnprintf(text, sizeof text, format, args);
    print_line("", text);
}

void jr_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    jr_say_args(format, args);
    va_end(args);
}

void jr_diag_finish(const struct jr_diag *diag)
{
    if (diag->muted)
        jr_say("%u more warnings were not shown", diag->muted);
}
