/* SPDX-License-Identifier: MIT
 *
 * Real time in a report: calls that blocked, and time of functions by thread
 * state.
 * Runs in: analyzer. */
#ifndef JR_WRITE_WAITS_H
#define JR_WRITE_WAITS_H

#include "model/waits.h"
#include "report.h"

#define JR_WAITS_SHOWN 40 /* functions, and as many calls, in text and HTML */

/* The rows of both sections, and the function that writes a name. */
struct jr_waits {
    const struct jr_model *model;
    struct jr_wait_row *waits;
    struct jr_time_row *times;
    size_t nwaits, ntimes;
    FILE *out;
    void (*put)(FILE *out, const char *text);
};

/* Works out the rows; jr_waits_close frees them. */
void jr_waits_open(struct jr_waits *page, const struct jr_report *report,
                   FILE *out, void (*put)(FILE *out, const char *text));
void jr_waits_close(struct jr_waits *page);

/* Writes a function's name, marked where it was inlined. */
void jr_waits_name(const struct jr_waits *page, uint32_t function);

/* Writes "function: call". */
void jr_waits_put(const struct jr_waits *page, const struct jr_wait_row *wait);

/* Writes, behind that, what threads waited there that were idle all the time:
 * a row's other figures are of the others. */
void jr_waits_put_idle(const struct jr_waits *page,
                       const struct jr_wait_row *wait);

/* "s", or "" for a count of one. */
const char *jr_waits_plural(uint64_t count);

/* Write both sections; they write nothing for a profile of CPU time. */
void jr_waits_text(const struct jr_report *report, FILE *out);
void jr_waits_summary(const struct jr_report *report, FILE *out);

#endif
