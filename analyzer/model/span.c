/* SPDX-License-Identifier: MIT
 *
 * Sections and times: which stretch of time a report covers and how much of it
 * was profiled.
 * Runs in: analyzer. */
#include "span.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "model/marks/inside.h"

/* Times of two time namespaces (time_namespaces(7)) are as those of two
 * boots. */
static int same_clock(const struct jr_start *start,
                      const struct jp_log_header *header)
{
    return memcmp(start->boot_id, header->boot_id, sizeof(header->boot_id)) ==
               0 &&
           (start->time_space == header->owner_time_space ||
            start->time_space == 0 || header->owner_time_space == 0);
}

static struct jr_start *find_start(const struct jr_starts *starts,
                                   const struct jp_log_header *header,
                                   uint8_t side)
{
    for (size_t i = 0; i < starts->count; i++)
        if (starts->items[i].side == side &&
            same_clock(&starts->items[i], header))
            return &starts->items[i];
    return NULL;
}

/* A log is made at the first sample, which may be long after the start. */
static uint64_t began(const struct jp_log_header *header,
                      const struct jr_map *map)
{
    return map && map->nsections && map->sections[0].time_ns < header->mono_ns
               ? map->sections[0].time_ns
               : header->mono_ns;
}

void jr_starts_add(struct jr_starts *starts, const struct jp_log_header *header,
                   const struct jr_map *map)
{
    struct jr_start *start = find_start(starts, header, starts->side);
    const uint64_t began_ns = began(header, map);

    if (start == NULL) {
        start = JR_PUSH(starts->items, starts->count, starts->room);
        *start = (struct jr_start){.mono_ns = UINT64_MAX,
                                   .time_space = header->owner_time_space,
                                   .side = starts->side};
        memcpy(start->boot_id, header->boot_id, sizeof(start->boot_id));
    }
    if (began_ns > start->mono_ns)
        return;
    start->mono_ns = began_ns;
    start->real_ns =
        header->real_ns ? header->real_ns - (header->mono_ns - began_ns) : 0;
}

/* How long after the earliest start of its side this one was. */
static uint64_t later_by(const struct jr_starts *starts,
                         const struct jr_start *start)
{
    uint64_t first_ns = start->real_ns;

    for (size_t i = 0; i < starts->count; i++)
        if (starts->items[i].side == start->side &&
            starts->items[i].real_ns != 0 &&
            starts->items[i].real_ns < first_ns)
            first_ns = starts->items[i].real_ns;
    return start->real_ns - first_ns;
}

uint64_t jr_span_zero(const struct jr_filter *filter,
                      const struct jr_process *process)
{
    const struct jp_log_header *header = &process->run->header;
    const struct jr_start *start =
        filter->starts ? find_start(filter->starts, header, process->side)
                       : NULL;

    return start ? start->mono_ns - later_by(filter->starts, start)
                 : header->mono_ns;
}

/* The time of the process's clock so long after `zero`; 0, if its clock had not
 * begun then. */
static uint64_t clock_at(uint64_t zero, uint64_t after_ns)
{
    if ((int64_t)zero >= 0)
        return jr_add(zero, after_ns);
    return after_ns > -zero ? after_ns - -zero : 0;
}

/* The stretch that --from and --to select, by the clock of the process. */
static struct jr_span asked_time(const struct jr_filter *filter,
                                 const struct jr_process *process)
{
    uint64_t zero = filter->by_clock ? 0 : jr_span_zero(filter, process);
    struct jr_span asked = {0, UINT64_MAX};

    /* Nothing is before the start, whatever a clock says. */
    if (filter->from_ns > 0)
        asked.from_ns = clock_at(zero, filter->from_ns);
    if (filter->has_to)
        asked.until_ns = clock_at(zero, filter->to_ns);
    return asked;
}

/* Where section n of the map starts; what lies before the first belongs to
 * it, and past the last there is no end. */
static uint64_t section_start(const struct jr_map *map, uint64_t n)
{
    if (n == 0)
        return 0;
    return n < map->nsections ? map->sections[n].time_ns : UINT64_MAX;
}

uint64_t jr_span_last(const struct jr_process *process)
{
    const struct jr_run *run = process->run;
    uint64_t last = process->map->end_ns;

    return run->last_ns > last ? run->last_ns : last;
}

static uint64_t first_pause_after(const struct jr_map *map, uint64_t start)
{
    for (size_t i = 0; i < map->npauses; i++)
        if (map->pauses[i].time_ns >= start)
            return map->pauses[i].time_ns;
    return UINT64_MAX;
}

/* What the oldest chunk of a ring that was overwritten reaches back to. */
static uint64_t kept_since(const struct jr_run *run)
{
    return run->header.counters[JP_COUNT_RING_REUSED] != 0 &&
                   run->oldest_ns < run->last_ns
               ? run->oldest_ns
               : 0;
}

/* Counts the time profiled between two moments, the first being a start, for
 * the process, and keeps the stretch for the sum of all.  Of processes from
 * different boots only the time of day can be compared. */
static void profiled(struct jr_model *model, struct jr_process *process,
                     uint64_t start, uint64_t end)
{
    const struct jp_log_header *header = &process->run->header;
    const uint64_t kept_from = kept_since(process->run);
    uint64_t pause = first_pause_after(process->map, start);
    uint64_t shift = header->real_ns > header->mono_ns
                         ? header->real_ns - header->mono_ns
                         : 0;

    if (pause < end)
        end = pause;
    if (start < process->span.from_ns)
        start = process->span.from_ns;
    if (end > process->span.until_ns)
        end = process->span.until_ns;
    if (end <= start)
        return;
    process->stats.wall_ns = jr_add(process->stats.wall_ns, end - start);
    if (end > kept_from)
        process->stats.kept_ns =
            jr_add(process->stats.kept_ns,
                   end - (start > kept_from ? start : kept_from));
    *JR_PUSH(model->profiled, model->nprofiled, model->profiled_room) =
        (struct jr_span){jr_add(start, shift), jr_add(end, shift)};
}

static void add_times(struct jr_model *model, struct jr_process *process,
                      uint64_t first, uint64_t end)
{
    const struct jr_map *map = process->map;
    uint64_t last = jr_span_last(process);

    if (map->nsections == 0) {
        if (first == 0 && end > 0)
            profiled(model, process, process->run->header.mono_ns, last);
        return;
    }
    for (uint64_t n = first; n < end; n++) {
        uint64_t next = section_start(map, n + 1);

        profiled(model, process, map->sections[n].time_ns,
                 next < last ? next : last);
    }
}

static int by_start(const void *one, const void *other)
{
    const struct jr_span *a = one, *b = other;

    return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

uint64_t jr_span_union(struct jr_span *spans, size_t count)
{
    uint64_t sum = 0, reached = 0;

    if (count)
        qsort(spans, count, sizeof *spans, by_start);
    for (size_t i = 0; i < count; i++) {
        uint64_t from = spans[i].from_ns > reached ? spans[i].from_ns : reached;

        if (spans[i].until_ns <= from)
            continue;
        sum = jr_add(sum, spans[i].until_ns - from);
        reached = spans[i].until_ns;
    }
    return sum;
}

uint64_t jr_span_section(const struct jr_map *map, uint64_t time_ns)
{
    const size_t end =
        JR_FIRST_NOT(map->nsections, i, map->sections[i].time_ns <= time_ns);

    return end > 0 ? map->sections[end - 1].time_ns : 0;
}

size_t jr_span_sections(const struct jr_map *map)
{
    return map->nsections ? map->nsections : 1;
}

/* The number within the run of section `n` of the log, 0 to `count`. */
static uint64_t within(const struct jr_process *process, uint64_t n,
                       uint64_t count)
{
    uint64_t before = process->neighbours.before;

    if (n <= before)
        return 0;
    return n - before < count ? n - before : count;
}

void jr_span_select(struct jr_model *model, struct jr_process *process)
{
    const struct jr_filter *filter = &model->filter;
    const struct jr_map *map = process->map;
    uint64_t count = jr_span_sections(map);
    uint64_t first = within(process, filter->start, count);
    uint64_t end = within(process, filter->end, count);

    if (filter->last) {
        end = process->neighbours.after == 0 ? count : 0;
        first = end > 0 ? end - 1 : 0;
    }
    if (first > end)
        first = end;
    process->all_sections = (size_t)count;
    process->stats.sections = end - first;
    process->span = asked_time(filter, process);
    add_times(model, process, first, end);
    if (first == end) {
        process->span = (struct jr_span){0, 0};
        return;
    }
    if (process->span.from_ns < section_start(map, first))
        process->span.from_ns = section_start(map, first);
    if (process->span.until_ns > section_start(map, end))
        process->span.until_ns = section_start(map, end);
}

enum jr_asked jr_span_asks(const struct jr_filter *filter,
                           const struct jr_process *process,
                           const struct jr_sample *sample)
{
    if (sample->time_ns < process->span.from_ns ||
        sample->time_ns >= process->span.until_ns)
        return JR_ASKED_NOT;
    if (filter->tid != 0 && sample->tid != filter->tid)
        return JR_ASKED_NOT;
    if ((filter->events != 0 && (filter->events >> sample->event & 1) == 0) ||
        (filter->nspans > 0 &&
         !jr_inside_has(&process->inside, sample->tid, sample->time_ns)))
        return JR_ASKED_NOT_HERE;
    return JR_ASKED;
}
