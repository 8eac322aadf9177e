/* SPDX-License-Identifier: MIT
 *
 * What a log and its map say of the CPU time of their process.
 * Runs in: analyzer. */
#include "cover.h"

#include "model.h"

/* A profile that is to run from the start does so this soon. */
#define START_NS 5000000ULL

/* Goes through starts and stops in order of time, and adds up the CPU time
 * between them. */
struct course {
    uint64_t on_ns, since_ns;
    int on;
};

static void start(struct course *course, uint64_t cpu_ns)
{
    if (!course->on)
        course->since_ns = cpu_ns;
    course->on = 1;
}

static void stop(struct course *course, uint64_t cpu_ns)
{
    if (course->on && cpu_ns > course->since_ns)
        course->on_ns = jr_add(course->on_ns, cpu_ns - course->since_ns);
    course->on = 0;
}

/* Samples from before do not count. */
static void clear(struct course *course, uint64_t cpu_ns)
{
    course->on_ns = 0;
    course->since_ns = cpu_ns;
}

static uint64_t time_of(const struct jr_section *moments, size_t count,
                        size_t i)
{
    return i < count ? moments[i].time_ns : UINT64_MAX;
}

static void follow(struct course *course, const struct jr_map *map)
{
    const struct jr_section *sections = map->sections, *pauses = map->pauses;
    uint64_t cleared = map->clear.time_ns ? map->clear.time_ns : UINT64_MAX;

    for (size_t i = 0, j = 0;
         i < map->nsections || j < map->npauses || cleared != UINT64_MAX;) {
        uint64_t started = time_of(sections, map->nsections, i);
        uint64_t stopped = time_of(pauses, map->npauses, j);

        if (cleared <= started && cleared <= stopped) {
            clear(course, map->clear.cpu_ns);
            cleared = UINT64_MAX;
        } else if (started <= stopped) {
            start(course, sections[i++].cpu_ns);
        } else {
            stop(course, pauses[j++].cpu_ns);
        }
    }
}

/* The period at which the process was sampled, on average where the handler's
 * cost made it longer than was asked for: what chance makes goes by it. */
static uint64_t period_of(const struct jp_log_header *header)
{
    const uint64_t count = header->counters[JP_COUNT_LOWERED];
    const uint64_t mean =
        count ? header->counters[JP_COUNT_LOWERED_NS] / count : 0;

    return mean > header->period_ns ? mean : header->period_ns;
}

/* How long the process had been there when its log began. */
static uint64_t unlogged_of(const struct jp_log_header *header)
{
    return header->start_ticks &&
                   header->start_ticks <= header->boot_ns / JP_LOG_TICK_NS
               ? header->boot_ns - header->start_ticks * JP_LOG_TICK_NS
               : 0;
}

void jr_cover_image(const struct jr_run *run, const struct jr_map *map,
                    struct jr_cover_image *image)
{
    const struct jp_log_header *header = &run->header;
    struct course course = {.since_ns = header->cpu_before_ns, .on = 1};

    *image = (struct jr_cover_image){
        .pid = header->pid,
        .ppid = map->ppid,
        .start_ticks = header->start_ticks,
        .begin_ns = header->mono_ns,
        .unlogged_ns = unlogged_of(header),
        .before_ns = header->cpu_before_ns,
        .cpu_ns = header->cpu_ns,
        .children_ns = header->children_ns,
        .lost_ns = header->counters[JP_COUNT_LOST_NS],
        .looking_ns = header->counters[JP_COUNT_LOOKING_NS],
        .making_ns = header->counters[JP_COUNT_MAKING_NS],
        .edges_ns = header->counters[JP_COUNT_EDGES_NS],
        .period_ns = period_of(header),
        .cut = header->counters[JP_COUNT_RING_REUSED] != 0,
        .off = (uint8_t)(header->off < JP_OFF_COUNT ? header->off : 0),
        .refused = header->counters[JP_COUNT_NO_TIMER] != 0,
        .ended = header->cpu_ended != 0,
    };
    /* Of those behind a sandbox, several may be process 1, and none knows when
     * it began. */
    if (image->start_ticks == 0 && header->base_run != 0)
        image->start_ticks = 1ULL << 63 | run->offset;
    image->sampled_ns = run->cpu_ns;
    /* A killed process: what it used since it last looked at its clock. */
    if (image->cpu_ns)
        image->cpu_ns = jr_add(image->cpu_ns, run->late_ns);
    /* One that was to wait, JP_DEFER or JP_FIRST, did not run at first. */
    if (map->nsections &&
        map->sections[0].cpu_ns > header->cpu_before_ns + START_NS)
        course.on = 0;
    follow(&course, map);
    image->paused = !course.on;
    stop(&course, image->cpu_ns);
    image->on_ns = course.on_ns;
}
