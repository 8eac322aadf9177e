/* SPDX-License-Identifier: MIT
 *
 * The hash table of the analyzer: finds the numbers of items by their hash.
 * The items stay with the caller, who compares them: open addressing, at most
 * three quarters full.
 * Runs in: analyzer. */
#ifndef JR_INDEX_H
#define JR_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define JR_NO_ITEM UINT32_MAX

struct jr_index_place {
    uint32_t hash;
    uint32_t item; /* the item's number plus one; 0: free */
};

/* All zero is an empty index. */
struct jr_index {
    struct jr_index_place *places;
    size_t room; /* of places; 0 or a power of two */
    size_t used;
};

/* Spreads the bits of two words over a hash. */
static inline uint32_t jr_hash(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15ULL ^ (b + 0x7f4a7c15ULL);

    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ULL;
    x ^= x >> 29;
    x *= 0xd6e8feb86659fd93ULL;
    return (uint32_t)(x ^ x >> 32);
}

/* The hash of a text (FNV-1a, 32 bits). */
static inline uint32_t jr_hash_text(const char *text, size_t length)
{
    uint32_t hash = 2166136261U;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619U;
    return hash;
}

/* The next item with this hash, or JR_NO_ITEM when there is no other.  *at is
 * the hash at first and is the function's own from then on; it does not hold
 * over a jr_index_add. */
static inline uint32_t jr_index_next(const struct jr_index *index,
                                     uint32_t hash, size_t *at)
{
    while (index->room != 0) {
        const struct jr_index_place *place =
            &index->places[(*at)++ & (index->room - 1)];

        if (place->item == 0)
            break;
        if (place->hash == hash)
            return place->item - 1;
    }
    return JR_NO_ITEM;
}

/* The item where the search for a hash begins, whatever its hash is, or
 * JR_NO_ITEM: a guess, for prefetching. */
static inline uint32_t jr_index_guess(const struct jr_index *index,
                                      uint32_t hash)
{
    return index->room ? index->places[hash & (index->room - 1)].item - 1
                       : JR_NO_ITEM;
}

/* Prefetches the place where the search for a hash begins. */
static inline void jr_index_prefetch(const struct jr_index *index,
                                     uint32_t hash)
{
    if (index->room != 0)
        __builtin_prefetch(&index->places[hash & (index->room - 1)]);
}

/* Adds an item below JR_NO_ITEM, which must not be there yet. */
void jr_index_add(struct jr_index *index, uint32_t hash, uint32_t item);
void jr_index_free(struct jr_index *index);

#endif
