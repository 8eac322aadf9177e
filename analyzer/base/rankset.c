/* SPDX-License-Identifier: MIT
 *
 * Bits in levels: each level says which words of the one below hold a bit.
 * Runs in: analyzer. */
#include "rankset.h"

#include <stdlib.h>
#include <string.h>

#include "mem.h"

void jr_rankset_init(struct jr_rankset *set, size_t limit)
{
    size_t words = limit;

    memset(set, 0, sizeof *set);
    set->limit = limit;
    do {
        words = (words + 63) / 64;
        set->levels[set->nlevels++] = jr_alloc(words, sizeof *set->levels[0]);
    } while (words > 1 && set->nlevels < JR_RANK_LEVELS);
}

void jr_rankset_free(struct jr_rankset *set)
{
    for (size_t i = 0; i < set->nlevels; i++)
        free(set->levels[i]);
    memset(set, 0, sizeof *set);
}

void jr_rankset_add(struct jr_rankset *set, size_t number)
{
    for (size_t i = 0; i < set->nlevels; i++) {
        set->levels[i][number / 64] |= 1ULL << number % 64;
        number /= 64;
    }
}

void jr_rankset_remove(struct jr_rankset *set, size_t number)
{
    for (size_t i = 0; i < set->nlevels; i++) {
        set->levels[i][number / 64] &= ~(1ULL << number % 64);
        if (set->levels[i][number / 64])
            return;
        number /= 64;
    }
}

size_t jr_rankset_next(const struct jr_rankset *set, size_t from)
{
    size_t limit = set->limit, level = 0;
    uint64_t bits;

    for (;; level++, from = from / 64 + 1, limit = (limit + 63) / 64) {
        if (level == set->nlevels || from >= limit)
            return JR_RANK_NONE;
        bits = set->levels[level][from / 64] >> from % 64;
        if (bits)
            break;
    }
    from += (size_t)__builtin_ctzll(bits);
    while (level-- > 0)
        from = from * 64 + (size_t)__builtin_ctzll(set->levels[level][from]);
    return from;
}

size_t jr_rankset_before(const struct jr_rankset *set, size_t limit)
{
    size_t level = 0;
    uint64_t bits;

    for (;; level++, limit /= 64) {
        if (level == set->nlevels || limit == 0)
            return JR_RANK_NONE;
        if (limit % 64 == 0)
            continue;
        bits = set->levels[level][limit / 64] << (64 - limit % 64);
        if (bits)
            break;
    }
    limit -= 1 + (size_t)__builtin_clzll(bits);
    while (level-- > 0)
        limit = limit * 64 + 63 -
                (size_t)__builtin_clzll(set->levels[level][limit]);
    return limit;
}
