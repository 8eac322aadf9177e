/* SPDX-License-Identifier: MIT
 *
 * The frame that the hybrid walker is at, and how a step moves it.
 * Runs in: handler. */
#ifndef JP_WALK_FRAME_H
#define JP_WALK_FRAME_H

#include <stdint.h>

#include "sig/arch/arch.h"
#include "walk.h"

/* What a step returns besides reasons to end (enum jp_reason). */
#define JP_WALK_GOING (-1) /* the walk goes on */
#define JP_WALK_AGAIN                                                          \
    (-2)                    /* a register is needed that was not followed: the
                               walk must begin anew */
#define JP_WALK_LOOKUP (-3) /* the next frame's rule must be looked up */

/* The frame that the walk is at. */
struct jp_walk_frame {
    uint64_t registers[JP_ARCH_REGISTERS];
    uint64_t pc;
    uint32_t interrupted; /* pc is the next instruction to run, and all
                             registers are known; else pc is a return address,
                             and the registers that calls preserve are known */
    uint32_t exact;       /* pc is the next instruction to run, but not all
                             registers are known */
    uint32_t follow;     /* all preserved registers are restored on the way, not
                             only sp and fp */
    uint32_t lost;       /* not 0: a step by the frame pointer restored none of
                             them: */
#define JP_WALK_BY_FP 2U /* the last step, or */
#define JP_WALK_LOST 1U  /* one before it */
    uint32_t unsure;     /* its rule could not be made just now */
};

/* A word of the stack; 1, which is neither code nor a frame pointer, when it
 * cannot be read. */
static inline uint64_t jp_walk_load_sig(struct jp_walk *walk, uint64_t address)
{
    uint64_t word;
    return jp_walk_read_sig(walk, address, &word) ? word : 1;
}

/* Raises the frame's sp to a caller on the same stack, by at least `by` bytes.
 * Returns 0 when sp is not there.  Only this function and jp_walk_over_sig set
 * sp, so no step leads away from the root. */
static inline int jp_walk_up_sig(struct jp_walk *walk,
                                 struct jp_walk_frame *frame, uint64_t sp,
                                 uint64_t by)
{
    if (sp < frame->registers[JP_ARCH_SP] + by || sp > walk->high ||
        (sp > walk->limit && !jp_walk_rise_sig(walk, sp)))
        return 0;
    frame->registers[JP_ARCH_SP] = sp;
    return 1;
}

/* Whether the frame that the walk is at is what the thread runs: then the page
 * of its pc is mapped, and is read directly.  What a signal of the program's
 * interrupted its handler may have unmapped. */
static inline int jp_walk_runs_sig(const struct jp_walk *walk)
{
    return walk->total == 1;
}

#endif
