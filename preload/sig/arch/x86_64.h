/* SPDX-License-Identifier: MIT
 *
 * x86-64: system calls and the registers of an interrupted context.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_X86_64_H
#define JP_ARCH_X86_64_H

#include <elf.h>
#include <stddef.h>
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

/* DWARF's register numbers (System V ABI for AMD64, 3.6.2); the return
 * address is one of them.  SAVED lists those that calls preserve, besides the
 * stack and frame pointers. */
#define JP_ARCH_REGISTERS 17U
#define JP_ARCH_SP 7U
#define JP_ARCH_FP 6U
#define JP_ARCH_RA 16U
#define JP_ARCH_PC 16U
#define JP_ARCH_SAVED {3, 12, 13, 14, 15}
#define JP_ARCH_SAVED_COUNT 5U
/* A call pushes: the caller's stack begins above its callee's. */
#define JP_ARCH_CALL_PUSHES 1

/* Bytes below sp that a leaf may use and a signal leaves alone. */
#define JP_ARCH_RED_ZONE 128U

/* Where the return trampoline of a signal handler finds the interrupted
 * context, from its sp, and the bytes of it that are read. */
#define JP_ARCH_SIGNAL_CONTEXT 0U
#define JP_ARCH_SIGNAL_BYTES                                                  \
    (offsetof(ucontext_t, uc_mcontext.gregs) + (REG_RIP + 1) * 8U)

/* Stores the registers by their DWARF numbers. */
static inline void jp_arch_registers_sig(const ucontext_t *context,
                                         uint64_t registers[])
{
    static const uint8_t from[JP_ARCH_REGISTERS] = {
        REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
        REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
        REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    for (unsigned i = 0; i < JP_ARCH_REGISTERS; i++)
        registers[i] = (uint64_t)context->uc_mcontext.gregs[from[i]];
}

/* A return address without what signs it. */
static inline uint64_t jp_arch_strip_sig(uint64_t address)
{
    return address;
}

#endif
