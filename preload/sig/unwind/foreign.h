/* SPDX-License-Identifier: MIT
 *
 * Reading the program's stack.
 * Runs in: handler. */
#ifndef JP_FOREIGN_H
#define JP_FOREIGN_H

#include <stdint.h>

/* The 8 bytes at `address`, which is mapped and aligned.  A walk passes the
 * variables of other functions: in a build with AddressSanitizer the bytes
 * between those are poisoned, and reading them is no fault here. */
#ifdef __SANITIZE_ADDRESS__
__attribute__((no_sanitize_address))
#endif
static inline uint64_t
jp_foreign_word_sig(uint64_t address)
{
    return *(const uint64_t *)address;
}

#endif
