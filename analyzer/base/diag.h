/* SPDX-License-Identifier: MIT
 *
 * Diagnostics: what jprof-report and jprof say on stderr, and what the exit
 * status of the first will be.
 * Runs in: analyzer. */
#ifndef JR_DIAG_H
#define JR_DIAG_H

#include <stdarg.h>
#include <stdint.h>

/* Exit statuses (doc/DESIGN.md, analyzer invariant 1). */
enum jr_exit { JR_COMPLETE = 0, JR_PARTIAL = 1, JR_FAILED = 2, JR_USAGE = 64 };

/* Offsets that mean "no place in the file". */
#define JR_NO_OFFSET UINT64_MAX

/* The name that messages begin with: "jprof-report", unless the program sets
 * another one. */
extern const char *jr_diag_program;

/* Told now and then how far the work is. */
typedef void jr_progress_fn(void *data, uint64_t done, uint64_t total);

struct jr_diag {
    unsigned warnings; /* parts of the input that could not be used */
    unsigned muted;    /* warnings not printed, being over the limit */
    int silent;        /* prints no warning: the file will be read once more */
    jr_progress_fn
        *progress; /* of reading a log, in bytes; NULL: nobody asks */
    void *progress_data;
};

/* Prints `jprof-report: FILE: at 0xOFFSET: TEXT` (the place left out for
 * JR_NO_OFFSET) and counts a warning: the report will be partial.  Control
 * characters in FILE and TEXT (C1 too), those that turn the direction of
 * writing, and what is no UTF-8 are shown as '?'.  After 20 warnings the rest
 * is only counted.  TEXT says what was wrong and what happens now. */
void jr_warn(struct jr_diag *diag, const char *file, uint64_t offset,
             const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Prints `jprof-report: TEXT`, likewise; does not count. */
void jr_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void jr_say_args(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));

/* Says how many warnings were muted; call once at the end. */
void jr_diag_finish(const struct jr_diag *diag);

#endif
