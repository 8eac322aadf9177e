/* SPDX-License-Identifier: MIT
 *
 * The flat profile of a part, and what a long part leaves out.
 * Runs in: analyzer. */
#ifndef JR_PART_FLAT_H
#define JR_PART_FLAT_H

#include "part.h"
#include "scope.h"

/* The functions with a self weight only, by descending self, the
 * first `most` of them to be shown: no totals, callers and callees.  Costs as
 * much as the part has leaves, whatever else the model holds.  Freed
 * likewise. */
void jr_part_build_flat(const struct jr_model *model,
                        const struct jr_scope_key *key, uint64_t most,
                        struct jr_part *part);

/* Of a part with very many functions, leaves functions and calls
 * out that are on less than 0.01% of its stacks; not the heaviest call to a
 * function that stays. */
void jr_part_cut(struct jr_part *part);

/* Whether a caller or callee of the row is listed. */
int jr_part_lists(const struct jr_part *part, const struct jr_row *row,
                  const struct jr_link *link);

/* Functions that a part does not list. */
struct jr_rest {
    size_t count;
    uint64_t self_ns, most_ns; /* of all; the total of the heaviest */
};

/* Those that the hierarchical profile leaves out, and with `flat`
 * those of them that have a self weight; count 0: none. */
struct jr_rest jr_part_rest(const struct jr_part *part, int flat);

#endif
