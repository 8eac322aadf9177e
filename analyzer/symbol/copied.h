/* SPDX-License-Identifier: MIT
 *
 * Text of a file that the program has copied to memory elsewhere, as V8 does
 * with its builtins where it cannot map them a second time (node
 * --use-largepages).  Found by the bytes of pages that were kept.
 * Runs in: analyzer. */
#ifndef JR_COPIED_H
#define JR_COPIED_H

#include <stddef.h>
#include <stdint.h>

#include "read/map.h"

/* What is known of one mapping without a file. */
struct jr_copied_range {
    const struct jr_mapping *mapping;
    const struct jr_mapping *source; /* of the file; NULL: not found yet */
    uint64_t shift;     /* from an address to the one in `source` */
    uint64_t low, high; /* pages between these have been compared */
    unsigned searches;
};

/* Zero is empty. */
struct jr_copied {
    struct jr_copied_range *ranges;
    size_t count, room;
    uint64_t searched; /* bytes of files */
};

/* Finds the text that `mapping`, memory without a file, has a copy of at
 * `address`.  Returns the mapping of the file, and sets *at to the address in
 * it; or NULL.  Both structures must outlive *copied. */
const struct jr_mapping *jr_copied_find(struct jr_copied *copied,
                                        const struct jr_map *map,
                                        const char *log_dir,
                                        const struct jr_mapping *mapping,
                                        uint64_t address, uint64_t *at);
void jr_copied_free(struct jr_copied *copied);

#endif
