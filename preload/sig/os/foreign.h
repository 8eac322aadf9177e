/* SPDX-License-Identifier: MIT
 *
 * Reading words of the program's stack.
 * Runs in: handler. */
#ifndef JP_FOREIGN_H
#define JP_FOREIGN_H

#include <stdint.h>

/* The 8 bytes at `address`, which must be mapped and aligned.  AddressSanitizer
 * must not check the read: it poisons bytes between other functions' variables,
 * which a walk passes. */
#ifdef __SANITIZE_ADDRESS__
__attribute__((no_sanitize_address))
#endif
static inline uint64_t
jp_foreign_word_sig(uint64_t address)
{
    return *(const uint64_t *)address;
}

#endif
