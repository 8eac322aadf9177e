/* SPDX-License-Identifier: MIT
 *
 * What the two parts of the hybrid walker share: walk_cfi.c, which knows every
 * kind of frame, and walk_quick.c, which knows the common ones.
 * Runs in: handler, any thread. */
#ifndef JP_WALK_CFI_H
#define JP_WALK_CFI_H

#include <stdint.h>

#include "cfi.h"
#include "sig/arch/arch.h"
#include "walk.h"

/* Answers of a step besides the reasons to end. */
#define JP_WALK_GOING (-1)  /* no reason to end yet */
#define JP_WALK_AGAIN (-2)  /* a register is needed that was not followed */
#define JP_WALK_LOOKUP (-3) /* the next frame's rule is not known */

/* The frame that the walk is at. */
struct jp_walk_frame {
    uint64_t registers[JP_ARCH_REGISTERS];
    uint64_t pc;
    uint32_t interrupted; /* pc is the next instruction to run, and every
                              register is known; otherwise pc returns here,
                              and those that calls preserve are known */
    uint32_t exact;       /* pc is the next instruction to run, though not
                              every register is known */
    uint32_t follow;      /* these are really restored, not only sp and fp */
    uint32_t lost;        /* a frame on the way restored none of them: */
#define JP_WALK_BY_FP 2U  /* the last one, by the frame pointer, or */
#define JP_WALK_LOST 1U   /* one before it */
    uint32_t unsure;      /* its rule could not be had just now */
};

/* A word of the stack.  What cannot be read leads nowhere: 1 is no code and no
 * frame pointer. */
static inline uint64_t jp_walk_load_sig(struct jp_walk *walk, uint64_t address)
{
    uint64_t word;
    return jp_walk_read_sig(walk, address, &word) ? word : 1;
}

/* No step sets sp but by the next two, so none leads away from the root.
 *
 * To a caller on this stack, at least `by` bytes up.  Returns whether sp is
 * there. */
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

/* To another stack, `top` bytes below whose end sp may be at most; `below` it
 * there is something to read. */
int jp_walk_over_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     uint64_t sp, uint64_t top, uint64_t below);

/* Lets reads reach below sp: a leaf saves registers there, as far as an
 * interruption leaves it alone, and an epilogue has just read them back from
 * there.  Not beyond what is known to be mapped. */
void jp_walk_lower_sig(struct jp_walk *walk, uint64_t sp, uint64_t bytes);

/* Below a CFA on another stack, what the function that left it has saved. */
#define JP_WALK_SAVED_BYTES 512U

/* Steps of rare kinds: return JP_WALK_GOING, JP_WALK_AGAIN or why the walk
 * ends. */
int jp_walk_signal_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_jump_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     const struct jp_cfi_rule *rule);
int jp_walk_computed_sig(struct jp_walk *walk, struct jp_walk_frame *frame);

/* For an interrupted frame in code without call-frame information: goes to its
 * caller (AT) if following the code to its return tells where that is, or says
 * that the frame pointer is the function's OWN. */
enum jp_ahead {
    JP_AHEAD_UNKNOWN,
    JP_AHEAD_OWN,
    JP_AHEAD_AT,
    JP_AHEAD_MAYBE, /* for walk_ahead.c: there, or the code goes on elsewhere */
    JP_AHEAD_PUSHED, /* likewise: what is pushed before a return */
    JP_AHEAD_GOING   /* likewise: not found yet */
};
enum jp_ahead jp_walk_ahead_sig(struct jp_walk *walk,
                                struct jp_walk_frame *frame);

/* Whether a call stands before an address; -1: it cannot be read. */
int jp_walk_called_sig(uint64_t address);

/* Which root it is that the walk has come to: the thread's, or that of a stack
 * which the program made. */
int jp_walk_root_sig(const struct jp_walk *walk, int by_hand);

/* Why a walk ends that ended for `reason`: the first frame of a stack that was
 * made by hand may have no caller, and no rule that says so. */
int jp_walk_end_sig(struct jp_walk *walk, int reason);

/* Goes on from a frame and its rule as long as frames are simple and the rules
 * at hand.  Leaves the frame where that ends, with its rule (GOING) or without
 * (LOOKUP), or says DEPTH.  For a sure stack without `follow`. */
int jp_walk_quick_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                      struct jp_cfi_rule *rule);

#endif
