/* SPDX-License-Identifier: MIT
 *
 * Sections and times: the stretch of time that a report covers.
 * Runs in: analyzer. */
#ifndef JR_SPAN_H
#define JR_SPAN_H

#include "model.h"

/* Sections of a run with this map, at least 1. */
size_t jr_span_sections(const struct jr_map *map);

/* When the last section that had begun by then did; 0: none had. */
uint64_t jr_span_section(const struct jr_map *map, uint64_t time_ns);

/* The selected time of a process, by section and by the time since
 * the profile's start, and how much of it was profiled: of each selected
 * section the time from its start to its pause, else to the next section, else
 * to the end of the process or its last sample. */
void jr_span_select(struct jr_model *model, struct jr_process *process);

/* Whether the filter asks for a sample, as far as that is said without
 * its stack.  JR_ASKED_NOT_HERE: its thread is asked for at its time, but not
 * its event or where that thread is. */
enum jr_asked { JR_ASKED_NOT, JR_ASKED_NOT_HERE, JR_ASKED };
enum jr_asked jr_span_asks(const struct jr_filter *filter,
                           const struct jr_process *process,
                           const struct jr_sample *sample);

/* The moment that --from and --to are counted from, by the clock of the
 * process: the earliest start of the profile, of all boots by the time of day;
 * where filter.starts is NULL, that of the process's own log. The clock of a
 * boot that came later had not begun then, so the result may be below 0: the
 * times since then are differences of 64 bits with a sign. */
uint64_t jr_span_zero(const struct jr_filter *filter,
                      const struct jr_process *process);

/* When the process, as far as the files tell, was last alive. */
uint64_t jr_span_last(const struct jr_process *process);

/* Notes when a process's profile began, with its first section or, if
 * the map (NULL: unknown) has none, with its log; what is known of its boot is
 * corrected.  The caller frees the items. */
void jr_starts_add(struct jr_starts *starts, const struct jp_log_header *header,
                   const struct jr_map *map);

/* The time that stretches cover together; puts them in order. */
uint64_t jr_span_union(struct jr_span *spans, size_t count);

#endif
