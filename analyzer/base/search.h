/* SPDX-License-Identifier: MIT
 *
 * Binary search in an array that is in order.
 * Runs in: analyzer. */
#ifndef JR_SEARCH_H
#define JR_SEARCH_H

#include <stddef.h>

/* The first index `at` below `count` (size_t) for which `holds`, an expression
 * with it, is false; `count`: there is none.  It is true up to there, and false
 * from there on:
 *     JR_FIRST_NOT(list->count, i, list->items[i].start <= address) */
#define JR_FIRST_NOT(count, at, holds) JR_FIRST_NOT_IN(0, count, at, holds)

/* The same from an index on, below `to`. */
#define JR_FIRST_NOT_IN(from, to, at, holds)                                   \
    __extension__({                                                            \
        size_t low_##at = (from), high_##at = (to);                            \
        while (low_##at < high_##at) {                                         \
            const size_t at = low_##at + (high_##at - low_##at) / 2;           \
            if (holds)                                                         \
                low_##at = at + 1;                                             \
            else                                                               \
                high_##at = at;                                                \
        }                                                                      \
        low_##at;                                                              \
    })

#endif
