/* SPDX-License-Identifier: MIT
 *
 * Access to memory that the program keeps from its own threads.
 *
 * Memory may have a protection key, and each thread has rights for each key.  A
 * signal handler begins with the kernel's default rights, whatever the
 * interrupted code had (pkeys(7)): key 0 alone.  So code that V8 has under a
 * key of its own, and that the thread was just running, may not be read there,
 * nor may code that can only be executed, for which the kernel takes a key.
 * Runs in: handler, the program's handlers. */
#ifndef JP_KEYS_H
#define JP_KEYS_H

#include <stdint.h>

#include "process.h"
#include "sig/arch/arch.h"

/* Lets the calling thread access memory of all keys.  Returns what
 * jp_keys_close_sig takes to give it the rights that it had. */
static inline uint32_t jp_keys_open_sig(void)
{
    return jp_process.has_keys ? jp_arch_open_keys_sig() : 0;
}

static inline void jp_keys_close_sig(uint32_t rights)
{
    if (jp_process.has_keys)
        jp_arch_set_keys_sig(rights);
}

#endif
