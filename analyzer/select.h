/* SPDX-License-Identifier: MIT
 *
 * Which processes a report is of, and when their profile starts.
 * Runs in: analyzer. */
#ifndef JR_SELECT_H
#define JR_SELECT_H

#include "model/model.h"

/* Whether --process is about this run; sets selected[i] (NULL: not asked) for
 * each value i that is. */
int jr_select_process(const struct jr_filter *filter, uint8_t *selected,
                      const struct jr_run *run, const struct jr_map *map);

/* Says which --process nothing was of. */
void jr_select_say(const struct jr_filter *filter, const uint8_t *selected);

/* Finds out when the profiles in these logs start, before the first
 * of them is added: --from and --to count from there.  What cannot be read is
 * passed over.  Those from `before` on are of the other side. */
void jr_select_starts(struct jr_starts *starts, const char *const *logs,
                      size_t count, size_t before);

#endif
