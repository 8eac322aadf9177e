/* SPDX-License-Identifier: MIT
 *
 * Adds the samples of a process to a model.
 * Runs in: analyzer. */
#ifndef JR_COLLECT_H
#define JR_COLLECT_H

#include "model.h"

/* Counts the samples of one more process, a run of a log that is open.  Run,
 * map and space must outlive the model, the open log need not; with
 * JR_NEEDS_REPLAY it must not be closed before, but may rest and be let go.  A
 * header whose period is 0 is counted with the default period. */
void jr_model_add(struct jr_model *model, struct jr_log *log,
                  const struct jr_run *run, const struct jr_code *code,
                  struct jr_neighbours neighbours);

#endif
