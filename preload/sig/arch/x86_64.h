/* SPDX-License-Identifier: MIT
 *
 * x86-64: system calls and the registers of an interrupted context.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_X86_64_H
#define JP_ARCH_X86_64_H

#include <elf.h>
#include <stdint.h>
#include <ucontext.h>

#define JP_ARCH_MACHINE EM_X86_64

/* A system call with up to six arguments; returns what the kernel does:
 * -errno from -4095 to -1 on failure.  Leaves errno alone. */
static inline long jp_arch_syscall_sig(long number, const long a[6])
{
    register long r10 __asm__("r10") = a[3];
    register long r8 __asm__("r8") = a[4];
    register long r9 __asm__("r9") = a[5];
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10),
                       "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline uint64_t jp_arch_pc_sig(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static inline uint64_t jp_arch_sp_sig(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

static inline uint64_t jp_arch_fp_sig(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RBP];
}

/* Where the caller's return address is when the interrupted function has not
 * made its frame yet, or has given it up: the offset from sp in bytes, or -1
 * when the frame pointer is the function's own.  The instruction at pc is the
 * next to run, so its bytes can be read; those behind a shorter one are not
 * looked at.  (Prologue `[endbr64] push %rbp; mov %rsp,%rbp`, epilogue `ret`:
 * System V ABI for AMD64, 3.2.2.) */
static inline int jp_arch_frameless_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    switch (code[0]) {
    case 0x55: /* push %rbp */
    case 0xc3: /* ret */
        return 0;
    case 0xf3: /* endbr64, or rep ret */
        return (code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) ||
                       code[1] == 0xc3
                   ? 0
                   : -1;
    case 0x48: /* mov %rsp,%rbp in its two encodings */
        return (code[1] == 0x89 && code[2] == 0xe5) ||
                       (code[1] == 0x8b && code[2] == 0xec)
                   ? 8
                   : -1;
    default:
        return -1;
    }
}

#endif
