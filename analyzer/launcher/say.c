/* SPDX-License-Identifier: MIT
 *
 * Says why the launcher ends.
 * Runs in: launcher. */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_MAX 8192

void jl_fail(int status, const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    jr_say("%s", text);
    exit(status);
}

void jl_usage(const char *format, ...)
{
    char text[TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    jr_say("%s", text);
    jr_say("try 'jprof --help'");
    exit(JR_USAGE);
}
