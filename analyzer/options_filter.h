/* SPDX-License-Identifier: MIT
 *
 * Options that say which samples count.
 * Runs in: analyzer. */
#ifndef JR_OPTIONS_FILTER_H
#define JR_OPTIONS_FILTER_H

#include "options.h"

/* Takes `value` (NULL for an option without one) of the option `name`; returns
 * 0, or -1 after saying what is wrong. */
typedef int jr_take_fn(struct jr_options *options, const char *name,
                       const char *value);

jr_take_fn jr_take_only_thread, jr_take_exclude, jr_take_include, jr_take_depth,
    jr_take_tiers, jr_take_event, jr_take_split_events, jr_take_last,
    jr_take_all, jr_take_start, jr_take_end, jr_take_process, jr_take_from,
    jr_take_to, jr_take_span;

#endif
