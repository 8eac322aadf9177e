/* SPDX-License-Identifier: MIT
 *
 * What the writers of other tools' formats share, and the writers.
 * Runs in: analyzer. */
#ifndef JR_EXPORT_H
#define JR_EXPORT_H

#include "model/scope.h"
#include "write/report.h"

jr_write_fn jr_write_pprof, jr_write_speedscope, jr_write_firefox,
    jr_write_callgrind, jr_write_perf_script, jr_write_push;

/* A key for each bucket of the model (with JR_NEEDS_EVENT_SUMS), or for each
 * thread (with JR_NEEDS_SAMPLE_LIST), in their order, with the thread's name.
 * The caller frees the array. */
struct jr_scope_key *jr_export_buckets(const struct jr_model *model);
struct jr_scope_key *jr_export_threads(const struct jr_model *model);

/* The source file of each function, NULL where none is known: an array of
 * model->nfunctions that the caller frees. */
const char **jr_export_files(const struct jr_model *model);

/* The line of a place, where it is one of the function's file (of
 * jr_export_files); else 0. */
uint32_t jr_export_line(const struct jr_model *model,
                        const struct jr_place *place, const char **files);

/* The name of a function, with its tier where that tells it from others.  The
 * caller frees it. */
char *jr_export_name(const struct jr_function *function);

/* A text as UTF-8 without control characters; the caller frees it. */
char *jr_export_clean(const char *text);

/* The address of a place as the first process that was seen had it. */
static inline uint64_t jr_export_address(const struct jr_model *model,
                                         const struct jr_place *place)
{
    return place->address + model->places.objects[place->object].bias;
}

/* Whether the profile is one of real time: it has samples of threads that wait
 * or run by the wall clock. */
int jr_export_is_real(const struct jr_model *model);

/* Whether a sample of that event stands for CPU time. */
int jr_export_is_cpu(unsigned event);

/* When the profile of a process began: CLOCK_MONOTONIC; CLOCK_REALTIME, 0 where
 * it is not known. */
uint64_t jr_export_begin_ns(const struct jr_process *process);
uint64_t jr_export_real_ns(const struct jr_process *process);

/* When that of the earliest process began, CLOCK_REALTIME; 0: not known. */
uint64_t jr_export_start_ns(const struct jr_model *model);

/* What the report is about and worth, with its notes, as lines "Label: text".
 * An array of *count texts; the caller frees it with jr_export_free_lines. */
char **jr_export_lines(const struct jr_report *report, size_t *count);
void jr_export_free_lines(char **lines, size_t count);

#endif
