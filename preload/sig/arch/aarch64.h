/* SPDX-License-Identifier: MIT
 *
 * aarch64: system calls and the registers of an interrupted context.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_AARCH64_H
#define JP_ARCH_AARCH64_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define JP_ARCH_MACHINE EM_AARCH64

/* A system call with up to six arguments; returns what the kernel does:
 * -errno from -4095 to -1 on failure.  Leaves errno alone. */
static inline long jp_arch_syscall_sig(long number, const long a[6])
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a[0];
    register long x1 __asm__("x1") = a[1];
    register long x2 __asm__("x2") = a[2];
    register long x3 __asm__("x3") = a[3];
    register long x4 __asm__("x4") = a[4];
    register long x5 __asm__("x5") = a[5];
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

static inline uint64_t jp_arch_pc_sig(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

static inline uint64_t jp_arch_sp_sig(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

static inline uint64_t jp_arch_fp_sig(const ucontext_t *context)
{
    return context->uc_mcontext.regs[29];
}

/* The return address of a leaf is in x30, not on the stack, and nothing in
 * the code at pc tells whether it still is: always -1 here. */
static inline int jp_arch_frameless_sig(const ucontext_t *context)
{
    (void)context;
    return -1;
}

/* DWARF's register numbers (DWARF for the Arm 64-bit Architecture, 4.1); 32
 * stands for the pc.  Code keeps its CFA in sp or x29, so no other preserved
 * register is followed (SAVED). */
#define JP_ARCH_REGISTERS 33U
#define JP_ARCH_SP 31U
#define JP_ARCH_FP 29U
#define JP_ARCH_RA 30U
#define JP_ARCH_PC 32U
#define JP_ARCH_SAVED {255}
#define JP_ARCH_SAVED_COUNT 1U
/* A leaf's frame may take no stack. */
#define JP_ARCH_CALL_PUSHES 0

/* Bytes below sp that a leaf may use: none. */
#define JP_ARCH_RED_ZONE 0U

/* The kernel puts siginfo_t before the context of a signal's frame. */
#define JP_ARCH_SIGNAL_CONTEXT 128U
#define JP_ARCH_SIGNAL_BYTES                                                  \
    (offsetof(ucontext_t, uc_mcontext.pc) + 8U)

/* Stores the registers by their DWARF numbers. */
static inline void jp_arch_registers_sig(const ucontext_t *context,
                                         uint64_t registers[])
{
    for (unsigned i = 0; i < 31; i++)
        registers[i] = context->uc_mcontext.regs[i];
    registers[31] = context->uc_mcontext.sp;
    registers[32] = context->uc_mcontext.pc;
}

/* A return address without what signs it: user addresses have at most 48
 * bits (pointer authentication and tags use those above). */
static inline uint64_t jp_arch_strip_sig(uint64_t address)
{
    return address & 0xffffffffffffULL;
}

#endif
