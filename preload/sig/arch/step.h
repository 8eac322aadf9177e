/* SPDX-License-Identifier: MIT
 *
 * What one instruction does to the stack pointer, for walk_ahead.c, and what a
 * call says of its function, for walk_cfi.c.
 * Runs in: handler. */
#ifndef JP_ARCH_STEP_H
#define JP_ARCH_STEP_H

#include <stdint.h>

enum jp_arch_step_kind {
    JP_STEP_PLAIN,   /* the stack pointer stays, or goes up by `value` */
    JP_STEP_BRANCH,  /* goes on, or to `value` bytes behind it */
    JP_STEP_JUMP,    /* goes there */
    JP_STEP_OUT,     /* goes where a register or a word of memory says */
    JP_STEP_CALL,
    JP_STEP_RETURN,
    JP_STEP_PUSH_FP,
    JP_STEP_SET_FP,  /* to the stack pointer */
    JP_STEP_POP_FP,
    JP_STEP_PUSH,    /* of another register, `reg` by its DWARF number */
    JP_STEP_POP,     /* likewise */
    JP_STEP_FROM_FP, /* the stack pointer comes of the frame pointer */
    JP_STEP_LOST,    /* the stack pointer goes nobody knows where */
    JP_STEP_END      /* nothing runs here, or it is not known what */
};

struct jp_arch_step {
    uint8_t length, kind, reg;
    int32_t value;
};

/* What the call before a return address says of the function that it leads to:
 * where that is, in *target or in the word at *target; or nothing but that it
 * is one which makes no frame of its own. */
enum jp_arch_call {
    JP_ARCH_CALL_OTHER,
    JP_ARCH_CALL_DIRECT,
    JP_ARCH_CALL_MEMORY,
    JP_ARCH_CALL_HANDLER
};

#endif
