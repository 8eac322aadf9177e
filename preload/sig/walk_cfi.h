/* SPDX-License-Identifier: MIT
 *
 * What the two parts of the hybrid walker share: walk_cfi.c, which knows every
 * kind of frame, and walk_quick.c, which knows the common ones.
 * Runs in: handler, any thread. */
#ifndef JP_WALK_CFI_H
#define JP_WALK_CFI_H

#include <stdint.h>

#include "arch/arch.h"
#include "cfi.h"
#include "walk.h"

/* Answers of a step besides the reasons to end. */
#define JP_WALK_GOING (-1)    /* no reason to end yet */
#define JP_WALK_AGAIN (-2)    /* a register is needed that was not followed */
#define JP_WALK_LOOKUP (-3)   /* the next frame's rule is not known */

/* The frame that the walk is at. */
struct jp_walk_frame {
    uint64_t registers[JP_ARCH_REGISTERS];
    uint64_t pc;
    uint32_t interrupted;  /* pc is the next instruction to run, and every
                              register is known; otherwise pc returns here,
                              and those that calls preserve are known */
    uint32_t follow;       /* these are really restored, not only sp and fp */
    uint32_t lost;         /* a frame on the way restored none of them */
    uint32_t unsure;       /* its rule could not be had just now */
};

/* A word of the stack.  What cannot be read leads nowhere: 1 is no code and no
 * frame pointer. */
static inline uint64_t jp_walk_load_sig(struct jp_walk *walk, uint64_t address)
{
    uint64_t word;
    return jp_walk_read_sig(walk, address, &word) ? word : 1;
}

/* Goes on from a frame and its rule as long as frames are simple and the rules
 * at hand.  Leaves the frame where that ends, with its rule (GOING) or without
 * (LOOKUP), or says DEPTH.  For a rooted stack without `follow`. */
int jp_walk_quick_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                      struct jp_cfi_rule *rule);

#endif
