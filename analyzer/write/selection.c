/* SPDX-License-Identifier: MIT
 *
 * Says what a report is of.
 * Runs in: analyzer. */
#include "selection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/words.h"

#define NS 1e9

/* Appends to the list in *list: "OPTION VALUE". */
static void append(char **list, const char *option, const char *value)
{
    char *longer = jr_printf("%s%s%s%s%s", *list, **list ? ", " : "", option,
                             *value ? " " : "", value);

    free(*list);
    *list = longer;
}

static void append_names(char **list, const char *option,
                         const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        append(list, option, names[i]);
}

static void append_number(char **list, const char *option, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, number);
    append(list, option, text);
}

static void append_seconds(char **list, const char *option, int by_clock,
                           uint64_t ns)
{
    char text[64];

    snprintf(text, sizeof(text), "%s%.9g", by_clock ? "@" : "",
             (double)ns / NS);
    append(list, option, text);
}

/* "--event blocked,ready". */
static void append_events(char **list, uint32_t events)
{
    char *words = jr_strdup("");

    for (unsigned i = 0; i < JP_EVENT_COUNT; i++) {
        char *longer;

        if ((events >> i & 1) == 0)
            continue;
        longer =
            jr_printf("%s%s%s", words, *words ? "," : "", jr_event_word(i));
        free(words);
        words = longer;
    }
    append(list, "--event", words);
    free(words);
}

static void append_sections(char **list, const struct jr_filter *filter)
{
    if (filter->last)
        append(list, "--last", "");
    if (filter->start > 0)
        append_number(list, "--start", filter->start);
    if (filter->end < UINT64_MAX)
        append_number(list, "--end", filter->end);
}

char *jr_selection_text(const struct jr_model *model)
{
    const struct jr_filter *filter = &model->filter;
    char *list = jr_strdup("");

    append_names(&list, "-e", filter->exclude, filter->nexclude);
    append_names(&list, "-i", filter->include, filter->ninclude);
    if (filter->depth)
        append_number(&list, "-s", filter->depth);
    if (filter->events)
        append_events(&list, filter->events);
    if (filter->tid)
        append_number(&list, "--only-thread", filter->tid);
    append_names(&list, "--process", filter->process, filter->nprocess);
    append_sections(&list, filter);
    if (filter->from_ns > 0)
        append_seconds(&list, "--from", filter->by_clock, filter->from_ns);
    if (filter->has_to)
        append_seconds(&list, "--to", filter->by_clock, filter->to_ns);
    append_names(&list, "--span", filter->spans, filter->nspans);
    if (*list)
        return list;
    free(list);
    return NULL;
}

int jr_selection_is_cut(const struct jr_model *model)
{
    return model->total.kept_ns < model->total.wall_ns;
}

int jr_selection_is_part(const struct jr_model *model)
{
    const struct jr_filter *filter = &model->filter;

    return filter->nexclude > 0 || filter->ninclude > 0 ||
           filter->events != 0 || filter->tid != 0 || filter->last ||
           filter->start > 0 || filter->end < UINT64_MAX ||
           filter->from_ns > 0 || filter->has_to || filter->nspans > 0 ||
           jr_selection_is_cut(model);
}

int jr_selection_lacks(const struct jr_model *model, uint32_t events)
{
    return model->filter.events != 0 && (model->filter.events & events) == 0;
}
