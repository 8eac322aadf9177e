/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the perf map reader and the times of its lines.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "read/perfmap.h"
#include "symbol/jit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A line that ever lives is found then, and at the end of time one at most
 * lives at an address. */
static void check_line(const struct jr_jit *jit,
                       const struct jr_jit_line *wanted,
                       struct jr_indices *found)
{
    size_t live = 0;

    jr_ranges_find(&jit->ranges, wanted->start, found);
    if (!wanted->duplicate && !wanted->bytecode &&
        wanted->from_ns < wanted->until_ns &&
        jr_jit_pick(jit, found, wanted->from_ns) != wanted)
        abort();
    for (size_t i = 0; i < found->count; i++) {
        const struct jr_jit_line *line = &jit->lines[found->items[i]];

        live += !line->bytecode && line->until_ns == UINT64_MAX;
    }
    if (live > 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_jit_file seen[2] = {{.time_ns = 10, .size = size / 3},
                                  {.time_ns = 20, .size = size / 2}};
    const struct jr_jit_file *sightings[] = {&seen[0], &seen[1]};
    struct jr_indices found = {0};
    struct jr_perfmap map;
    struct jr_jit jit = {0};

    jr_perfmap_parse(data, size, &map);
    jr_jit_append(&jit, &map, sightings, 2, 0);
    jr_jit_finish(&jit);
    for (size_t i = 0; i < map.nlines && i < 1000; i++) {
        if (map.lines[i].start >= map.lines[i].end ||
            map.lines[i].length == 0)
            abort();
        check_line(&jit, &jit.lines[i], &found);
    }
    free(found.items);
    jr_jit_free(&jit);
    jr_perfmap_free(&map);
    return 0;
}
