/* SPDX-License-Identifier: MIT
 *
 * The registers of an interrupted context, for all machines.  A machine's
 * header includes this file behind its definitions of:
 *
 *     JP_ARCH_REG_PC, _SP, _FP   the program counter, the stack pointer, the
 *                    frame pointer, as lvalues in a context
 *     JP_ARCH_REG_NUMBER, _RESULT   the number and the result of a system call
 *     JP_ARCH_REG_FIRST, _SECOND, _THIRD   the arguments of a system call, and
 *                    of a signal handler
 *     JP_ARCH_SYSCALL_BYTES, jp_arch_is_syscall_sig   the length of the
 *                    instruction that makes a system call; whether the code is
 *                    such an instruction
 *     JP_ARCH_FRAME_CONTEXT, _INFO   where a signal's frame has the context and
 *                    the siginfo_t, in bytes from sp as a handler begins
 *     JP_ARCH_TRAP_SP   which word of a trap has the stack pointer
 *
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_CONTEXT_H
#define JP_ARCH_CONTEXT_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

static inline uint64_t jp_arch_pc_sig(const ucontext_t *context)
{
    return (uint64_t)JP_ARCH_REG_PC(context);
}

static inline uint64_t jp_arch_sp_sig(const ucontext_t *context)
{
    return (uint64_t)JP_ARCH_REG_SP(context);
}

static inline uint64_t jp_arch_fp_sig(const ucontext_t *context)
{
    return (uint64_t)JP_ARCH_REG_FP(context);
}

/* Returns the number of the system call that the interrupted thread is about to
 * make, for the first time or again, or -1 when it is about to make none.  (On
 * x86-64 the page for vsyscalls, in the upper half, may not be read.) */
static inline long jp_arch_call_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    return (intptr_t)code >= 0 && jp_arch_is_syscall_sig(code)
               ? (long)JP_ARCH_REG_NUMBER(context)
               : -1;
}

/* Whether the signal came while the thread waited in a system call: the call is
 * about to be made again or has just failed with EINTR.  any: a call that has
 * just returned something else counts as well. */
static inline int jp_arch_waited_sig(const ucontext_t *context, int any)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    if ((intptr_t)code < 0 || ((uintptr_t)code & 4095) < JP_ARCH_SYSCALL_BYTES)
        return 0;
    if (jp_arch_is_syscall_sig(code))
        return 1;
    return jp_arch_is_syscall_sig(code - JP_ARCH_SYSCALL_BYTES) &&
           ((long)JP_ARCH_REG_RESULT(context) == -4 || any);
}

/* The first argument of the system call that the thread is about to make. */
static inline uint64_t jp_arch_first_sig(const ucontext_t *context)
{
    return (uint64_t)JP_ARCH_REG_FIRST(context);
}

/* The second argument of the system call that the thread is about to make, or
 * has just returned from. */
static inline long jp_arch_second_sig(const ucontext_t *context)
{
    return (long)JP_ARCH_REG_SECOND(context);
}

/* Changes the context so that the thread does not make the system call that it
 * is about to make, but sees it return `result`. */
static inline void jp_arch_skip_call_sig(ucontext_t *context, long result)
{
    JP_ARCH_REG_PC(context) += JP_ARCH_SYSCALL_BYTES;
    JP_ARCH_REG_RESULT(context) = result;
}

/* The context that a handler of the program's was called for, if the signal
 * came before that handler's first instruction has changed anything; else
 * NULL. */
static inline const ucontext_t *
jp_arch_entered_sig(const ucontext_t *context)
{
    const uint64_t sp = jp_arch_sp_sig(context);
    if ((uint64_t)JP_ARCH_REG_THIRD(context) != sp + JP_ARCH_FRAME_CONTEXT ||
        (uint64_t)JP_ARCH_REG_SECOND(context) != sp + JP_ARCH_FRAME_INFO ||
        (uint64_t)JP_ARCH_REG_FIRST(context) - 1 >= 64)
        return NULL;
    return (const ucontext_t *)(sp + JP_ARCH_FRAME_CONTEXT);
}

/* Changes the context so that the thread goes on at `pc`, which is
 * jp_trap_land, with the registers that jp_trap_walk_sig saved. */
static inline void jp_arch_land_sig(ucontext_t *context, uint64_t pc,
                                    const uint64_t *registers)
{
    JP_ARCH_REG_PC(context) = pc;
    JP_ARCH_REG_FIRST(context) = (uint64_t)registers;
    JP_ARCH_REG_SP(context) = registers[JP_ARCH_TRAP_SP];
}

/* The index of a thread pointer in jp_gate_known, below 4096. */
#define JP_ARCH_GATE_PLACE(thread) ((thread) >> 12 & 4095U)

#endif
