/* SPDX-License-Identifier: MIT
 *
 * Sections: which stretch of time a report covers and how much of it was
 * profiled.
 * Runs in: analyzer. */
#include "model.h"

/* Where section n of the map starts; what lies before the first belongs to
 * it, and past the last there is no end. */
static uint64_t section_start(const struct jr_map *map, uint64_t n)
{
    if (n == 0)
        return 0;
    return n < map->nsections ? map->sections[n].time_ns : UINT64_MAX;
}

/* When the process, as far as the files tell, was last alive. */
static uint64_t last_moment(const struct jr_process *process)
{
    const struct jr_run *run = process->run;
    uint64_t last = process->map->end_ns;

    if (run->nsamples > 0 && run->samples[run->nsamples - 1].time_ns > last)
        last = run->samples[run->nsamples - 1].time_ns;
    return last;
}

static uint64_t first_pause_after(const struct jr_map *map, uint64_t start)
{
    for (size_t i = 0; i < map->npauses; i++)
        if (map->pauses[i].time_ns >= start)
            return map->pauses[i].time_ns;
    return UINT64_MAX;
}

/* Time profiled between two moments, the first being a start. */
static uint64_t profiled(const struct jr_map *map, uint64_t start,
                         uint64_t end)
{
    uint64_t pause = first_pause_after(map, start);

    if (pause < end)
        end = pause;
    return end > start ? end - start : 0;
}

static uint64_t wall_of(const struct jr_process *process, uint64_t first,
                        uint64_t end)
{
    const struct jr_map *map = process->map;
    uint64_t last = last_moment(process), sum = 0;

    if (map->nsections == 0)
        return first == 0 && end > 0
                   ? profiled(map, process->run->header.mono_ns, last)
                   : 0;
    for (uint64_t n = first; n < end; n++) {
        uint64_t next = section_start(map, n + 1);

        sum = jr_add(sum, profiled(map, map->sections[n].time_ns,
                                   next < last ? next : last));
    }
    return sum;
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

void jr_span_select(const struct jr_filter *filter, struct jr_process *process)
{
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
    process->stats.wall_ns = wall_of(process, first, end);
    process->span = (struct jr_span){0, 0};
    if (first < end) {
        process->span.from_ns = section_start(map, first);
        process->span.until_ns = section_start(map, end);
    }
}
