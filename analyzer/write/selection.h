/* SPDX-License-Identifier: MIT
 *
 * What a report is of: the options that left samples out of it.
 * Runs in: analyzer. */
#ifndef JR_SELECTION_H
#define JR_SELECTION_H

#include "model/model.h"

/* "-e main, --event blocked, --to 3": the options that select samples or cut
 * stacks, with their values.  NULL: there are none.  The caller frees it. */
char *jr_selection_text(const struct jr_model *model);

/* Whether the report lacks samples that were taken of its processes, by an
 * option or because a ring has overwritten them.  What a log counts without
 * samples (lost ones, lookups) is of more than the report then. */
int jr_selection_is_part(const struct jr_model *model);

/* Whether a ring has overwritten older samples. */
int jr_selection_is_cut(const struct jr_model *model);

/* Whether --event selects none of these events (bits 1 << enum jp_event). */
int jr_selection_lacks(const struct jr_model *model, uint32_t events);

#endif
