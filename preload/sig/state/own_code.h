/* SPDX-License-Identifier: MIT
 *
 * Whether an address is in this library's own code.
 * Runs in: anywhere. */
#ifndef JP_OWN_CODE_H
#define JP_OWN_CODE_H

#include <stdint.h>

/* The bounds of the library's code, defined by the linker: its ELF header in
 * memory, and the end of its text (ld's documentation, "PROVIDE"). */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static inline int jp_own_code_has_sig(uint64_t pc)
{
    return pc >= (uint64_t)__ehdr_start && pc < (uint64_t)etext;
}

#endif
