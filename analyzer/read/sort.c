/* SPDX-License-Identifier: MIT
 *
 * A natural merge sort: the chunks of a log are runs in order of time, and
 * neighbouring runs overlap only where threads ran at the same time.
 * Runs in: analyzer. */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

struct sorter {
    struct jr_sample *samples;
    struct jr_sample *spare;
    size_t spare_room;
    size_t *ends; /* where the runs end, in order */
    size_t nends, ends_room;
};

/* The first index in [from, to) whose time is later than `time`. */
static size_t first_later(const struct jr_sample *samples, size_t from,
                          size_t to, uint64_t time)
{
    return JR_FIRST_NOT_IN(from, to, i, samples[i].time_ns <= time);
}

/* The first index in [from, to) whose time is not earlier than `time`. */
static size_t not_before(const struct jr_sample *samples, size_t from,
                         size_t to, uint64_t time)
{
    return time ? first_later(samples, from, to, time - 1) : from;
}

/* Merges the runs [from, middle) and [middle, to). */
static void merge(struct sorter *sorter, size_t from, size_t middle, size_t to)
{
    struct jr_sample *samples = sorter->samples;
    size_t left, nleft;

    if (middle == to || samples[middle - 1].time_ns <= samples[middle].time_ns)
        return;
    /* Only what overlaps in time has to move. */
    from = first_later(samples, from, middle, samples[middle].time_ns);
    to = not_before(samples, middle, to, samples[middle - 1].time_ns);
    nleft = middle - from;
    if (nleft > sorter->spare_room) {
        sorter->spare = jr_realloc(sorter->spare, nleft, sizeof *sorter->spare);
        sorter->spare_room = nleft;
    }
    memcpy(sorter->spare, samples + from, nleft * sizeof *samples);
    for (left = 0; left < nleft; from++) {
        if (middle < to &&
            samples[middle].time_ns < sorter->spare[left].time_ns)
            samples[from] = samples[middle++];
        else
            samples[from] = sorter->spare[left++];
    }
}

/* Merges neighbours once; halves the number of runs. */
static void merge_pairs(struct sorter *sorter)
{
    size_t from = 0, kept = 0;

    for (size_t i = 0; i < sorter->nends; i += 2) {
        size_t to = sorter->ends[i];

        if (i + 1 < sorter->nends) {
            to = sorter->ends[i + 1];
            merge(sorter, from, sorter->ends[i], to);
        }
        sorter->ends[kept++] = to;
        from = to;
    }
    sorter->nends = kept;
}

void jr_sort_samples(struct jr_sample *samples, size_t count)
{
    struct sorter sorter = {.samples = samples};

    for (size_t i = 1; i <= count; i++) {
        if (i == count || samples[i].time_ns < samples[i - 1].time_ns)
            *JR_PUSH(sorter.ends, sorter.nends, sorter.ends_room) = i;
    }
    while (sorter.nends > 1)
        merge_pairs(&sorter);
    free(sorter.spare);
    free(sorter.ends);
}
