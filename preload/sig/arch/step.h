/* SPDX-License-Identifier: MIT
 *
 * What one instruction does to the stack and frame pointers, for walk_ahead.c,
 * and what a call instruction says of the function called, for walk_hidden.c.
 * Runs in: handler. */
#ifndef JP_ARCH_STEP_H
#define JP_ARCH_STEP_H

#include <stdint.h>

enum jp_arch_step_kind {
    JP_STEP_PLAIN,   /* adds `value` to the stack pointer, 0 in most cases */
    JP_STEP_BRANCH,  /* may jump to `value` bytes behind its own end */
    JP_STEP_JUMP,    /* jumps to `value` bytes behind its own end */
    JP_STEP_OUT,     /* jumps to an address in a register or in memory */
    JP_STEP_CALL,
    JP_STEP_RETURN,
    JP_STEP_PUSH_FP,
    JP_STEP_SET_FP,  /* sets the frame pointer to the stack pointer plus
                        `value` */
    JP_STEP_POP_FP,
    JP_STEP_PUSH,    /* pushes a register, `reg` by its DWARF number */
    JP_STEP_POP,     /* pops one, `reg` too */
    /* Where a call leaves its return address in a register, the link: */
    JP_STEP_SAVE_LINK, /* stores it; reg: 1 if the instruction also makes the
                          room for that */
    JP_STEP_LOAD_LINK, /* loads it from `at` bytes above the stack pointer, to
                          which it adds `value`; reg: 1 if the frame pointer
                          is loaded too, from 8 bytes below */
    JP_STEP_FROM_FP, /* computes the stack pointer from the frame pointer */
    JP_STEP_LOST,    /* sets the stack pointer to an unknown value */
    JP_STEP_END      /* cannot be followed: invalid, or not decoded here */
};

struct jp_arch_step {
    uint8_t length, kind, reg; /* length: in bytes */
    int32_t value, at;
};

/* What the call instruction before a return address says of the function
 * called.  DIRECT: its address is *target.  MEMORY: its address is in the word
 * at *target.  HANDLER: it is a handler of V8's interpreter, which makes no
 * frame of its own.  OTHER: nothing. */
enum jp_arch_call {
    JP_ARCH_CALL_OTHER,
    JP_ARCH_CALL_DIRECT,
    JP_ARCH_CALL_MEMORY,
    JP_ARCH_CALL_HANDLER
};

/* How code goes back to another stack when its call has returned: it loads the
 * stack pointer from the word sp_at bytes above the register `base` (by its
 * DWARF number), and if loads_fp is set, the frame pointer from that at
 * fp_at. */
struct jp_arch_back {
    int32_t sp_at, fp_at;
    uint8_t base, loads_fp;
};

#endif
