/* SPDX-License-Identifier: MIT
 *
 * Options that say which samples count.
 * Runs in: analyzer. */
#ifndef JR_OPTIONS_FILTER_H
#define JR_OPTIONS_FILTER_H

#include "base/option.h"
#include "options.h"

/* Each takes a value into a struct jr_options. */
jr_take_fn jr_take_only_thread, jr_take_depth, jr_take_event, jr_take_start,
    jr_take_end, jr_take_from, jr_take_to;

/* --all: takes --last, --start and --end back. */
jr_act_fn jr_select_all_sections;

/* By enum jr_tiers; ends with a NULL. */
extern const char *const jr_tier_choices[];

#endif
