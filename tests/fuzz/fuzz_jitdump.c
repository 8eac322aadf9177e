/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the jitdump reader, the times of its code, names and lines.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "jit_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_jit_file seen[2] = {{.time_ns = 10, .size = size / 2},
                                  {.time_ns = 20, .size = size}};
    const struct jr_jit_file *items[] = {&seen[0], &seen[1]};
    struct jr_jit_sightings sightings = {
        .items = items, .count = 2, .replaced_ns = UINT64_MAX};
    struct jr_jit_origin *origin = jr_alloc(1, sizeof *origin);
    struct jr_map map = {.pid = 7, .begin_ns = 1000};
    struct jr_jit jit = {.map = &map, .log_dir = ""};
    const char *why;

    origin->is_dump = 1;
    jr_source_memory(&origin->source, data, size);
    if (jr_jitdump_begin(&origin->dump, &origin->source, &why) == 0) {
        jr_jit_append_dump(&jit, origin, &sightings);
        jr_jit_finish(&jit);
        check_jit(&jit);
    } else {
        jr_jitdump_free(&origin->dump);
        free(origin);
    }
    jr_jit_free(&jit);
    return 0;
}
