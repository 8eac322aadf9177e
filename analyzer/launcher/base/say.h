/* SPDX-License-Identifier: MIT
 *
 * How the launcher ends when it cannot go on.  What it says goes to stderr
 * (base/diag.h): stdout is the program's.
 * Runs in: launcher. */
#ifndef JL_SAY_H
#define JL_SAY_H

#include "base/diag.h"

/* Exit statuses beside those of base/diag.h: as a shell's. */
#define JL_NOT_EXECUTABLE 126
#define JL_NOT_FOUND 127

/* Prints `jprof: TEXT`, control characters as '?', and exits. */
void jl_fail(int status, const char *format, ...)
    __attribute__((noreturn, format(printf, 2, 3)));

/* The same for a wrong command line, with a hint at --help; exits 64. */
void jl_usage(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* Says only the hint; exits 64. */
void jl_usage_hint(void) __attribute__((noreturn));

#endif
