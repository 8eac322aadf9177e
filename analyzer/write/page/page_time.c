/* SPDX-License-Identifier: MIT
 *
 * Moments as the page counts them.
 * Runs in: analyzer. */
#include "page.h"
#include "base/search.h"

#define US 1000 /* ns in a microsecond */

/* When the last section that began by then did; 0: none. */
static uint64_t section_before(const struct jr_map *map, uint64_t time_ns)
{
    const size_t low =
        JR_FIRST_NOT(map->nsections, i, map->sections[i].time_ns <= time_ns);

    return low > 0 ? map->sections[low - 1].time_ns : 0;
}

uint64_t jr_page_time(const struct jr_model *model,
                      const struct jr_process *process, uint64_t time_ns)
{
    const uint64_t zero = jr_span_zero(&model->filter, process);
    const uint64_t start = section_before(process->map, time_ns);
    uint64_t time = (int64_t)(time_ns - zero) > 0 ? (time_ns - zero) / US : 0;
    uint64_t least =
        (int64_t)(start - zero) > 0 ? (start - zero + US - 1) / US : 0;

    return time < least ? least : time;
}
