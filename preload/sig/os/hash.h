/* SPDX-License-Identifier: MIT
 *
 * A hash of 64-bit words: FNV-1a (Fowler, Noll, Vo) a word at a time, the upper
 * half folded in after each.
 * Runs in: handler. */
#ifndef JP_HASH_H
#define JP_HASH_H

#include <stdint.h>

#define JP_HASH_BEGIN 0xcbf29ce484222325ULL

/* Adds a word to a hash, which begins as JP_HASH_BEGIN. */
static inline uint64_t jp_hash_word_sig(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x100000001b3ULL;
    return hash ^ hash >> 32;
}

#endif
