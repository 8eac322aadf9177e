/* SPDX-License-Identifier: MIT
 *
 * Options that say which samples count.
 * Runs in: analyzer. */
#include "options_filter.h"

#include <string.h>

#include "base/diag.h"
#include "base/mem.h"
#include "values.h"

int jr_take_only_thread(struct jr_options *options, const char *name,
                        const char *value)
{
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

int jr_take_exclude(struct jr_options *options, const char *name,
                    const char *value)
{
    struct jr_filter *filter = &options->filter;

    (void)name;
    *JR_PUSH(filter->exclude, filter->nexclude, filter->exclude_room) = value;
    return 0;
}

int jr_take_include(struct jr_options *options, const char *name,
                    const char *value)
{
    struct jr_filter *filter = &options->filter;

    (void)name;
    *JR_PUSH(filter->include, filter->ninclude, filter->include_room) = value;
    return 0;
}

int jr_take_depth(struct jr_options *options, const char *name,
                  const char *value)
{
    if (jr_value_number(name, value, 0, &options->filter.depth) != 0)
        return -1;
    if (options->filter.depth < 2)
        options->filter.depth = 2;
    return 0;
}

int jr_take_tiers(struct jr_options *options, const char *name,
                  const char *value)
{
    static const char *const words[] = {[JR_TIERS_MERGE] = "merge",
                                        [JR_TIERS_SPLIT] = "split",
                                        [JR_TIERS_RAW] = "raw"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(value, words[i]) == 0) {
            options->filter.tiers = (uint8_t)i;
            return 0;
        }
    jr_say("%s %s: must be merge, split or raw", name, value);
    return -1;
}

/* One or more events, separated by commas. */
int jr_take_event(struct jr_options *options, const char *name,
                  const char *value)
{
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

int jr_take_split_events(struct jr_options *options, const char *name,
                         const char *value)
{
    (void)name, (void)value;
    options->filter.split = 1;
    return 0;
}

int jr_take_last(struct jr_options *options, const char *name,
                 const char *value)
{
    (void)name, (void)value;
    options->filter.last = 1;
    return 0;
}

int jr_take_all(struct jr_options *options, const char *name, const char *value)
{
    (void)name, (void)value;
    options->filter.last = 0;
    options->filter.start = 0;
    options->filter.end = UINT64_MAX;
    options->has_section = options->has_end = 0;
    return 0;
}

int jr_take_start(struct jr_options *options, const char *name,
                  const char *value)
{
    options->has_section = 1;
    return jr_value_number(name, value, 0, &options->filter.start);
}

int jr_take_end(struct jr_options *options, const char *name, const char *value)
{
    options->has_section = options->has_end = 1;
    return jr_value_number(name, value, 1, &options->filter.end);
}

int jr_take_process(struct jr_options *options, const char *name,
                    const char *value)
{
    struct jr_filter *filter = &options->filter;

    (void)name;
    *JR_PUSH(filter->process, filter->nprocess, filter->process_room) = value;
    return 0;
}

int jr_take_from(struct jr_options *options, const char *name,
                 const char *value)
{
    return jr_value_moment(name, value, &options->filter.from_ns,
                           &options->clocks);
}

int jr_take_to(struct jr_options *options, const char *name, const char *value)
{
    options->filter.has_to = 1;
    return jr_value_moment(name, value, &options->filter.to_ns,
                           &options->clocks);
}

int jr_take_span(struct jr_options *options, const char *name,
                 const char *value)
{
    struct jr_filter *filter = &options->filter;

    (void)name;
    *JR_PUSH(filter->spans, filter->nspans, filter->spans_room) = value;
    return 0;
}
