/* SPDX-License-Identifier: MIT
 *
 * What the units of a file have in common.
 * Runs in: analyzer. */
#ifndef JR_SHARED_H
#define JR_SHARED_H

#include "entries.h"
#include "line_sections.h"
#include "live.h"
#include "range_lists.h"

struct jr_dwarf_shared {
    struct jr_dwarf_budget budget;
    struct jr_live live;
    struct jr_line_sections lines;
    struct jr_range_lists ranges;
};

#endif
