/* SPDX-License-Identifier: MIT
 *
 * The modules whose code a report cannot name.
 * Runs in: analyzer. */
#ifndef JR_NAMELESS_H
#define JR_NAMELESS_H

#include "model/model.h"

/* A module with code that has no names. */
struct jr_nameless {
    const char *module; /* as functions have it */
    const char *path;   /* the model's; NULL: not known */
    char *package;      /* whose installation brings names; NULL: not known */
    uint64_t weight_ns; /* of samples with such code on their stack */
};

struct jr_nameless_list {
    struct jr_nameless *items; /* by descending weight, JR_NAMELESS_MOST at
                                  most, each at least a thousandth of all */
    size_t count, room;
    size_t all; /* such modules, whatever they weigh */
    int asked;  /* the caller's: debuginfod was asked for their files */
};

#define JR_NAMELESS_MOST 10

/* Lists them for a finished model.  Asks dpkg for the packages of those that
 * weigh a hundredth, or the archives that `symbols` (NULL: none) come from. */
void jr_nameless_find(const struct jr_model *model,
                      const struct jr_symbols *symbols,
                      struct jr_nameless_list *list);
void jr_nameless_free(struct jr_nameless_list *list);

#endif
