/* SPDX-License-Identifier: MIT
 *
 * Fuzz target: the map reader.  Input starts inside the run asked for.
 * Runs in: fuzz tests. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "read/map.h"

static const char begin[] =
    "0 jprof-map version=1 pid=7 start=99 log=jprof-log\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jr_diag diag = {.warnings = 1000}; /* printed are the first 20 */
    struct jr_map map = {.pid = 7, .start_ticks = 99};
    size_t head = sizeof begin - 1;
    uint8_t *text = jr_alloc(head + size, 1);

    memcpy(text, begin, head);
    if (size)
        memcpy(text + head, data, size);
    map.path = jr_strdup("fuzz");
    if (jr_map_parse(text, head + size, &map, &diag) < 0)
        abort();
    for (size_t i = 0; i < map.mappings.count; i++) {
        const struct jr_mapping *mapping = &map.mappings.items[i];

        if (mapping->start >= mapping->end || !mapping->path ||
            (i && mapping[-1].from_ns > mapping->from_ns))
            abort();
    }
    jr_map_free(&map);
    free(text);
    return 0;
}
