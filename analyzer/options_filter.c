/* SPDX-License-Identifier: MIT
 *
 * Options that say which samples count.
 * Runs in: analyzer. */
#include "options_filter.h"

#include <string.h>

#include "base/diag.h"
#include "model/words.h"
#include "values.h"

const char *const jr_tier_choices[] = {[JR_TIERS_MERGE] = "merge",
                                       [JR_TIERS_SPLIT] = "split",
                                       [JR_TIERS_RAW] = "raw",
                                       NULL};

int jr_take_only_thread(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;
    uint64_t tid;

    if (jr_value_number(name, value, 1, &tid) != 0)
        return -1;
    if (tid > UINT32_MAX) {
        jr_say("%s %s: no thread has such a number", name, value);
        return -1;
    }
    options->filter.tid = (uint32_t)tid;
    options->filter.by_thread = 1;
    return 0;
}

int jr_take_depth(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;

    if (jr_value_number(name, value, 0, &options->filter.depth) != 0)
        return -1;
    if (options->filter.depth < 2)
        options->filter.depth = 2;
    return 0;
}

/* One or more events, separated by commas. */
int jr_take_event(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;

    for (const char *at = value, *end; at != NULL; at = *end ? end + 1 : NULL) {
        unsigned event = 0;

        end = strchrnul(at, ',');
        while (event < JP_EVENT_COUNT &&
               (strlen(jr_event_word(event)) != (size_t)(end - at) ||
                memcmp(jr_event_word(event), at, (size_t)(end - at)) != 0))
            event++;
        if (event == JP_EVENT_COUNT) {
            jr_say("%s %s: must be cpu, running, blocked, ready or raised",
                   name, value);
            return -1;
        }
        options->filter.events |= 1U << event;
    }
    return 0;
}

void jr_select_all_sections(void *target)
{
    struct jr_options *options = target;

    options->filter.last = 0;
    options->filter.start = 0;
    options->filter.end = UINT64_MAX;
    options->has_section = options->has_end = 0;
}

int jr_take_start(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;

    options->has_section = 1;
    return jr_value_number(name, value, 0, &options->filter.start);
}

int jr_take_end(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;

    options->has_section = options->has_end = 1;
    return jr_value_number(name, value, 1, &options->filter.end);
}

int jr_take_from(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;

    return jr_value_moment(name, value, &options->filter.from_ns,
                           &options->clocks);
}

int jr_take_to(void *target, const char *name, const char *value)
{
    struct jr_options *options = target;

    options->filter.has_to = 1;
    return jr_value_moment(name, value, &options->filter.to_ns,
                           &options->clocks);
}
