/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the perf map reader and the times of its lines.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "jit_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_jit_file seen[2] = {{.time_ns = 10, .size = size / 3},
                                  {.time_ns = 20, .size = size / 2}};
    const struct jr_jit_file *items[] = {&seen[0], &seen[1]};
    struct jr_jit_sightings sightings = {
        .items = items, .count = 2, .replaced_ns = UINT64_MAX};
    struct jr_jit_origin *origin = jr_alloc(1, sizeof *origin);
    struct jr_map map = {.pid = 7};
    struct jr_jit jit = {.map = &map, .log_dir = ""};

    jr_perfmap_parse(data, size, &origin->map);
    for (size_t i = 0; i < origin->map.nlines; i++) {
        if (origin->map.lines[i].start >= origin->map.lines[i].end ||
            origin->map.lines[i].length == 0)
            abort();
    }
    jr_jit_append_map(&jit, origin, &sightings);
    jr_jit_finish(&jit);
    check_jit(&jit);
    jr_jit_free(&jit);
    return 0;
}
