/* SPDX-License-Identifier: MIT
 *
 * What the parts of the hybrid walker share: walk_cfi.c, which knows every
 * kind of frame, walk_quick.c for the common ones, walk_rare.c for the rare
 * ones, walk_ahead.c, walk_hidden.c and walk_back.c for code without frames.
 * Runs in: handler, any thread. */
#ifndef JP_WALK_CFI_H
#define JP_WALK_CFI_H

#include <stdint.h>

#include "cfi/cfi.h"
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
 * Returns 0 when sp is not there.  Only this function and the next one set sp,
 * so no step leads away from the root. */
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

/* Sets the frame's sp to another stack, which the address sp - top is on;
 * reads may reach `below` bytes below that.  Returns 0 when there is no such
 * stack, or the walk has been there. */
int jp_walk_over_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     uint64_t sp, uint64_t top, uint64_t below);

/* Lets reads reach `bytes` below sp, as far as memory is known to be mapped: a
 * leaf function saves registers in the red zone there, and an epilogue has just
 * restored them from there. */
void jp_walk_lower_sig(struct jp_walk *walk, uint64_t sp, uint64_t bytes);

/* Bytes below a CFA on another stack, for what the function that left that
 * stack has saved. */
#define JP_WALK_SAVED_BYTES 512U

/* Steps of rare kinds: out of a signal's frame, to where longjmp goes, by
 * expressions.  Return JP_WALK_GOING, JP_WALK_AGAIN or why the walk ends. */
int jp_walk_signal_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_jump_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                     const struct jp_cfi_rule *rule);
int jp_walk_computed_sig(struct jp_walk *walk, struct jp_walk_frame *frame);

/* Follows the code of an interrupted frame without call-frame information to
 * its return.  Goes to the caller and returns AT if that tells where it is;
 * returns OWN if the frame pointer is the function's own, else UNKNOWN. */
enum jp_ahead {
    JP_AHEAD_UNKNOWN,
    JP_AHEAD_OWN,
    JP_AHEAD_AT,
    /* Only inside walk_ahead.c: */
    JP_AHEAD_MAYBE,  /* as AT, unless the code goes on elsewhere */
    JP_AHEAD_PUSHED, /* the code returns to an address that it has pushed */
    JP_AHEAD_GOING   /* not found yet */
};
enum jp_ahead jp_walk_ahead_sig(struct jp_walk *walk,
                                struct jp_walk_frame *frame);

/* Called where the code does not tell whether an interrupted frame without
 * call-frame information is its own: goes to the caller, and returns 1, if a
 * call to this very function, or the code before the pc, says where its return
 * address is.  Else returns 0, as the frame pointer leads to the caller; sets
 * the walk's `doubtful` if it may lead past it. */
int jp_walk_hidden_sig(struct jp_walk *walk, struct jp_walk_frame *frame);

/* Called in code without call-frame information whose frame pointer leads
 * nowhere on this stack.
 * back: goes to the stack that the code behind the frame's call goes back to,
 * and sets the frame pointer that it has there; the frame stays the same.
 * Returns JP_WALK_GOING, JP_WALK_AGAIN or JP_REASON_BAD_FP.
 * aligned: goes to the caller, and returns 1, if the code has aligned the
 * stack and has no frame pointer.
 * jumped: goes to the caller of the function that has jumped to the code, as
 * GHC's StgRun does, and returns 1, if that is so.
 * left: goes to the caller, and returns 1, if the code has come from another
 * stack and the frame pointer still leads to its frame, or its caller's, there:
 * of Go's functions those that go on on the thread's stack, or come back from
 * there; the function by which SBCL enters Lisp.
 * begun: whether the code has set both the stack pointer and the frame pointer
 * before its call, the latter to 0: it is the root of what it has called. */
int jp_walk_back_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_aligned_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_jumped_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_left_sig(struct jp_walk *walk, struct jp_walk_frame *frame);
int jp_walk_begun_sig(const struct jp_walk_frame *frame);

/* Whether the call before an address is of the function that the frame is in
 * (without a frame, so shorter than a page), or may be, as it goes to where a
 * register says.  For CALLS, *from gets how far behind the place called the
 * frame's pc is: of two, the nearer one is where the function begins. */
enum jp_calls {
    JP_WALK_CALLS_NONE, /* there is no call, or no code */
    JP_WALK_CALLS_OTHER,
    JP_WALK_MAY_CALL,
    JP_WALK_CALLS
};
enum jp_calls jp_walk_calls_sig(struct jp_walk *walk,
                                struct jp_walk_frame *frame, uint64_t address,
                                uint64_t *from);

/* Whether the frame that the walk is at is what the thread runs: then the page
 * of its pc is mapped, and is read directly.  What a signal of the program's
 * interrupted its handler may have unmapped. */
static inline int jp_walk_runs_sig(const struct jp_walk *walk)
{
    return walk->total == 1;
}

/* Whether the instruction before an address is a call; -1 when it cannot be
 * read. */
int jp_walk_called_sig(uint64_t address);

/* The reason for a walk that has come to a root: JP_REASON_ROOT for the
 * thread's, JP_REASON_FIBER for that of a stack which the program made.
 * by_hand: it is known to be the latter. */
int jp_walk_root_sig(const struct jp_walk *walk, int by_hand);

/* Corrects the reason of a walk that ended for want of a rule or plausible
 * frame on a stack that the program made: if no call instruction precedes the
 * pc of one of the last frames, that frame is the stack's root. */
int jp_walk_end_sig(struct jp_walk *walk, int reason);

/* Goes on from a frame and its rule as long as frames are simple and their
 * rules are cached.  Sets *frame to where that ends; returns GOING with its
 * rule, LOOKUP without, or JP_REASON_DEPTH.  For a sure stack, without
 * `follow`. */
int jp_walk_quick_sig(struct jp_walk *walk, struct jp_walk_frame *frame,
                      struct jp_cfi_rule *rule);

#endif
