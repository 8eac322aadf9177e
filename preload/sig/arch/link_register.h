/* SPDX-License-Identifier: MIT
 *
 * Machines on which a call leaves its return address in a register, the link
 * register, and which have the kernel's newer table of system calls
 * (asm-generic/unistd.h): the definitions that they have in common.  A
 * machine's header includes this file behind context.h.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_LINK_REGISTER_H
#define JP_ARCH_LINK_REGISTER_H

#include <stdint.h>
#include <ucontext.h>

#include "step.h"

/* See x86_64.h. */
#define JP_ARCH_STAT SYS_newfstatat
#define JP_ARCH_MORE_CALLS
#define JP_ARCH_IS_FORK(number) ((void)(number), 0)

/* Returns the number of the system call that the interrupted thread has just
 * returned from, or -1 when it has not. */
static inline long jp_arch_left_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    return ((uintptr_t)code & 4095) >= JP_ARCH_SYSCALL_BYTES &&
                   jp_arch_is_syscall_sig(code - JP_ARCH_SYSCALL_BYTES)
               ? (long)JP_ARCH_REG_NUMBER(context)
               : -1;
}

/* See x86_64.h.  Always 0 here: the registers of a call that is made again are
 * those of its first time. */
static inline int jp_arch_again_sig(const ucontext_t *context)
{
    (void)context;
    return 0;
}

static inline int jp_arch_tells_again(void)
{
    return 0;
}

static inline void jp_arch_first_time(void)
{
}

/* See x86_64.h.  Always -1 here: the return address of a leaf function is in
 * the link register, not on the stack, and the code at pc does not tell whether
 * that register still has it. */
static inline int jp_arch_frameless_sig(const ucontext_t *context)
{
    (void)context;
    return -1;
}

/* See x86_64.h.  Always 0: one instruction stores it with the link register, or
 * into room that another one has made. */
static inline int jp_arch_pushes_fp_sig(const uint8_t *code)
{
    (void)code;
    return 0;
}

/* See x86_64.h.  Always 0: here compilers save registers only relative to the
 * CFA. */
static inline int jp_arch_fp_popped_sig(const ucontext_t *context)
{
    (void)context;
    return 0;
}

/* DWARF's numbers of the machine's registers are below 32; 32 stands for the pc
 * here. */
#define JP_ARCH_REGISTERS 33U
#define JP_ARCH_PC 32U
/* 0: the frame of a leaf function may take no stack. */
#define JP_ARCH_CALL_PUSHES 0
/* See x86_64.h: there is no red zone. */
#define JP_ARCH_RED_ZONE 0U

/* See x86_64.h.  Instructions of calls have at most four bytes. */
#define JP_ARCH_CALL_BYTES 4U
static inline uint32_t jp_arch_word_sig(const uint8_t *code)
{
    return (uint32_t)code[0] | (uint32_t)code[1] << 8 |
           (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
}

/* See x86_64.h.  Always -1: CPython's trampolines keep a frame pointer here. */
#define JP_ARCH_BARE_BYTES 4
static inline int jp_arch_bare_return_sig(const uint8_t *code)
{
    (void)code;
    return -1;
}

/* See x86_64.h.  Always OTHER: here a call leaves no return address on the
 * stack. */
#define JP_ARCH_CALLER_BEFORE 4U
#define JP_ARCH_CALLER_BYTES 4U
static inline enum jp_arch_call
jp_arch_call_before_sig(const uint8_t code[JP_ARCH_CALLER_BYTES], uint64_t to,
                        const uint64_t registers[], uint64_t *target)
{
    (void)code, (void)to, (void)registers, (void)target;
    return JP_ARCH_CALL_OTHER;
}

/* See x86_64.h.  Here every process may read the thread pointer. */
#define JP_ARCH_HAS_THREAD(hwcap2) ((void)(hwcap2), 1)
#define JP_ARCH_THREAD_CALL (-1), 0

/* See x86_64.h.  Here the word is the address of the table of the thread's
 * modules (ELF Handling For Thread-Local Storage, 3.3, variant I). */
static inline int jp_arch_thread_is_sound_sig(uint64_t thread, uint64_t word)
{
    return word != 0 && thread % 16 == 0;
}

/* See x86_64.h.  Always 0: where the machine has keys, jprof does not know
 * them (Linux has them from 6.12 on as permission overlays of aarch64; no
 * machine with them was at hand). */
static inline int jp_arch_has_keys(void)
{
    return 0;
}

#endif
