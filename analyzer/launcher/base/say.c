/* SPDX-License-Identifier: MIT
 *
 * Says why the launcher ends.
 * Runs in: launcher. */
#include "say.h"

#include <stdarg.h>
#include <stdlib.h>

void jl_fail(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    jr_say_args(format, args);
    va_end(args);
    exit(status);
}

void jl_usage(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    jr_say_args(format, args);
    va_end(args);
    jl_usage_hint();
}

void jl_usage_hint(void)
{
    jr_say("try 'jprof --help'");
    exit(JR_USAGE);
}
