/* SPDX-License-Identifier: MIT
 *
 * Builds a part of a report: its functions, callers and callees.
 * Runs in: analyzer. */
#ifndef JR_PART_BUILD_H
#define JR_PART_BUILD_H

#include "part.h"
#include "scope.h"

/* Builds the part, all of it to be shown; the caller frees it with
 * jr_part_free. */
void jr_part_build(const struct jr_model *model, const struct jr_scope_key *key,
                   struct jr_part *part);

/* The same where only so many callers, and callees, of a function are asked
 * for: those behind them are in no order. */
#define JR_LINKS_ALL SIZE_MAX
void jr_part_build_for(const struct jr_model *model,
                       const struct jr_scope_key *key, size_t links,
                       struct jr_part *part);
void jr_part_free(struct jr_part *part);

/* Orders two functions by name, module and tier. */
int jr_part_compare_functions(const struct jr_model *model, uint32_t a,
                              uint32_t b);

#endif
