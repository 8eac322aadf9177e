/* SPDX-License-Identifier: MIT
 *
 * x86-64: system calls and the registers of an interrupted context.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_X86_64_H
#define JP_ARCH_X86_64_H

#include <elf.h>
#include <linux/audit.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define JP_ARCH_MACHINE EM_X86_64
#define JP_ARCH_AUDIT AUDIT_ARCH_X86_64 /* seccomp_data.arch */

/* A system call with up to six arguments; returns what the kernel does:
 * -errno from -4095 to -1 on failure.  Leaves errno alone.  The arguments are
 * read first: in a build with ThreadSanitizer a read is a call, which takes
 * registers that have their values already. */
static inline long jp_arch_syscall_sig(long number, const long a[6])
{
    const long a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4],
               a5 = a[5];
    register long r10 __asm__("r10") = a3;
    register long r8 __asm__("r8") = a4;
    register long r9 __asm__("r9") = a5;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a0), "S"(a1), "d"(a2), "r"(r10),
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

/* The number of the system call that the interrupted thread is about to make,
 * for the first time or anew, or -1; and having it return `result` instead. */
static inline long jp_arch_call_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    if ((intptr_t)code < 0)
        return -1; /* the page for vsyscalls may not be read */
    return code[0] == 0x0f && code[1] == 0x05 /* syscall */
               ? (long)context->uc_mcontext.gregs[REG_RAX]
               : -1;
}

/* Whether the signal came to the thread as it waited in a system call, which is
 * about to be made again or has just failed with EINTR.  short_too: a call that
 * has just returned a number (a transfer cut short) counts as well. */
static inline int jp_arch_waited_sig(const ucontext_t *context, int short_too)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    if ((intptr_t)code < 0 || ((uintptr_t)code & 4095) < 2)
        return 0;
    if (code[0] == 0x0f && code[1] == 0x05)
        return 1;
    return code[-2] == 0x0f && code[-1] == 0x05 &&
           (context->uc_mcontext.gregs[REG_RAX] == -4 ||
            (short_too && context->uc_mcontext.gregs[REG_RAX] > 0));
}

/* Its second argument. */
static inline long jp_arch_second_sig(const ucontext_t *context)
{
    return (long)context->uc_mcontext.gregs[REG_RSI];
}

static inline void jp_arch_skip_call_sig(ucontext_t *context, long result)
{
    context->uc_mcontext.gregs[REG_RIP] += 2;
    context->uc_mcontext.gregs[REG_RAX] = result;
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

/* Where a function without a frame pointer gives its stack back right behind a
 * call, `add $N,%rsp; ret`: N, else -1.  CPython's perf trampolines are such
 * (Python/asm_trampoline.S), in memory without call-frame information. */
#define JP_ARCH_BARE_BYTES 5
static inline int jp_arch_bare_return_sig(const uint8_t *code)
{
    return code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4 &&
                   code[3] < 0x80 && code[3] % 8 == 0 && code[4] == 0xc3
               ? code[3]
               : -1;
}

/* Whether the interrupted function has given its frame pointer back, where the
 * call-frame information has it saved at an offset from itself: GCC says so
 * to the end of a function that realigned its stack, past `leave`.  What is
 * left to run is lea -8(%r10),%rsp, then ret. */
static inline int jp_arch_fp_popped_sig(const ucontext_t *context)
{
    const uint8_t *code = (const uint8_t *)jp_arch_pc_sig(context);
    return code[0] == 0xc3 || (code[0] == 0x49 && code[1] == 0x8d &&
                               code[2] == 0x62 && code[3] == 0xf8);
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
/* The trampoline itself: mov $__NR_rt_sigreturn,%rax; syscall.  That of glibc
 * has call-frame information, others may have none. */
#define JP_ARCH_SIGRETURN {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}
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
