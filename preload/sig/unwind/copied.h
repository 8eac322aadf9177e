/* SPDX-License-Identifier: MIT
 *
 * Code that a walk goes through without running in it: it is copied piece by
 * piece, as it may be unmapped at any time.
 * Runs in: handler, any thread. */
#ifndef JP_COPIED_H
#define JP_COPIED_H

#include <stddef.h>
#include <stdint.h>

#include "sig/arch/arch.h"
#include "walk.h"

#define JP_COPIED_PAGE 4096U

/* The last piece.  Set up with `walk`, `bytes` and `room`, at least
 * JP_ARCH_STEP_BYTES. */
struct jp_copied {
    const struct jp_walk *walk;
    uint8_t *bytes; /* the caller's, */
    uint32_t room;  /* and how many there are */
    uint32_t count; /* of these are code, */
    uint64_t at;    /* from this address on */
};

/* The code at pc, of at least JP_ARCH_STEP_BYTES, until the next call; NULL
 * when it cannot be read. */
static inline const uint8_t *jp_copied_sig(struct jp_copied *copied,
                                           uint64_t pc)
{
    if (pc - copied->at < copied->count &&
        copied->count - (pc - copied->at) >= JP_ARCH_STEP_BYTES)
        return copied->bytes + (pc - copied->at);
    uint32_t size = JP_COPIED_PAGE - (uint32_t)(pc % JP_COPIED_PAGE);
    if (size > copied->room)
        size = copied->room;
    if (size < JP_ARCH_STEP_BYTES)
        size = JP_ARCH_STEP_BYTES;
    copied->count = 0;
    if (!jp_walk_copy_sig(copied->walk, pc, copied->bytes, size))
        return NULL;
    copied->at = pc;
    copied->count = size;
    return copied->bytes;
}

#endif
