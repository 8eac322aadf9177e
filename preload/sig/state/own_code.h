/* SPDX-License-Identifier: MIT
 *
 * Whether an address is in this library's own code.
 * Runs in: anywhere. */
#ifndef JP_OWN_CODE_H
#define JP_OWN_CODE_H

#include <stdint.h>

/* The bounds that the linker gives it: ld's documentation, "PROVIDE" (etext);
 * __ehdr_start is where its ELF header lies in memory. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static inline int jp_own_code_has_sig(uint64_t pc)
{
    return pc >= (uint64_t)__ehdr_start && pc < (uint64_t)etext;
}

#endif
