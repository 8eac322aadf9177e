/* SPDX-License-Identifier: MIT
 *
 * Life of a model, its sums, and small questions to it.
 * Runs in: analyzer. */
#ifndef JR_BUILD_H
#define JR_BUILD_H

#include "model.h"

/* An empty model; jr_model_free releases what it holds, not what processes
 * point to. */
void jr_model_init(struct jr_model *model, const struct jr_filter *filter);
void jr_model_free(struct jr_model *model);

/* Sums up; call once, after the last jr_model_add. */
void jr_model_finish(struct jr_model *model);

/* Whether a process's samples cannot be read from its log a second time: one
 * that may still run overwrites a ring, and a profile of another tool has no
 * log. */
int jr_process_may_change(const struct jr_process *process);

/* Takes what the log's header counted into the process's stats. */
void jr_process_count_lost(struct jr_process *process);

/* Weight in periods, rounded to the nearest: in those of the model, or in
 * others. */
uint64_t jr_periods_of(uint64_t period_ns, uint64_t weight_ns);
uint64_t jr_periods(const struct jr_model *model, uint64_t weight_ns);

/* The name that a thread had last, or NULL. */
const char *jr_thread_name(const struct jr_process *process, uint32_t tid);

#endif
