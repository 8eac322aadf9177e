/* SPDX-License-Identifier: MIT
 *
 * aarch64: system calls and the registers of an interrupted context.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_AARCH64_H
#define JP_ARCH_AARCH64_H

#include <elf.h>
#include <linux/audit.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "aarch64_step.h"
#include "function.h"
#include "restorer.h"

#define JP_ARCH_MACHINE EM_AARCH64
#define JP_ARCH_AUDIT AUDIT_ARCH_AARCH64 /* seccomp_data.arch */

/* See x86_64.h. */
#define JP_ARCH_RENAME SYS_renameat

/* Makes a system call with up to six arguments.  Returns the kernel's answer,
 * -errno (-4095 to -1) on failure, and leaves errno alone. */
static inline long jp_arch_syscall_sig(long number, const long a[6])
{
    const long a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3], a4 = a[4],
               a5 = a[5]; /* read first: see x86_64.h */
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a0;
    register long x1 __asm__("x1") = a1;
    register long x2 __asm__("x2") = a2;
    register long x3 __asm__("x3") = a3;
    register long x4 __asm__("x4") = a4;
    register long x5 __asm__("x5") = a5;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

/* See x86_64.h. */
static inline int jp_arch_swap_byte_sig(_Atomic uint8_t *byte, uint8_t from,
                                        uint8_t to)
{
    return atomic_compare_exchange_strong(byte, &from, to);
}

#define JP_ARCH_REG_PC(context) ((context)->uc_mcontext.pc)
#define JP_ARCH_REG_SP(context) ((context)->uc_mcontext.sp)
#define JP_ARCH_REG_FP(context) ((context)->uc_mcontext.regs[29])
#define JP_ARCH_REG_NUMBER(context) ((context)->uc_mcontext.regs[8])
#define JP_ARCH_REG_RESULT(context) ((context)->uc_mcontext.regs[0])
#define JP_ARCH_REG_FIRST(context) ((context)->uc_mcontext.regs[0])
#define JP_ARCH_REG_SECOND(context) ((context)->uc_mcontext.regs[1])
#define JP_ARCH_REG_THIRD(context) ((context)->uc_mcontext.regs[2])

#define JP_ARCH_SYSCALL_BYTES 4U
static inline int jp_arch_is_syscall_sig(const uint8_t *code)
{
    return *(const uint32_t *)code == 0xd4000001U; /* svc #0 */
}

/* (rt_sigframe, setup_rt_frame: arch/arm64/kernel/signal.c in Linux.) */
#define JP_ARCH_FRAME_CONTEXT 128U
#define JP_ARCH_FRAME_INFO 0U

#define JP_ARCH_TRAP_SP 12
#define JP_ARCH_TRAP_REGISTERS 22

#include "context.h"
#include "link_register.h"

/* Whether the interrupted code is a linker's stub (of the PLT), which jumps on
 * to a function; *pushed gets the bytes that the stub has pushed so far.  Stubs
 * have no call-frame information here; their return address is in x30.  From pc
 * on a stub has, each at most once and in this order: bti c, adrp x16, ldr x17
 * from x16, add to x16, autia1716; then br x16 or br x17 (ELF for the Arm
 * 64-bit Architecture, "PLT Sequences and Usage Models"; binutils,
 * bfd/elfnn-aarch64.c).  Before these the PLT's first entry pushes x16 and
 * x30. */
static inline int jp_arch_stub_sig(const ucontext_t *context, uint64_t *pushed)
{
    static const uint32_t mask[] = {0xffffffff, 0x9f00001f, 0xffc003ff,
                                    0xffc003ff, 0xffffffff};
    static const uint32_t want[] = {0xd503245f, 0x90000010, 0xf9400211,
                                    0x91000210, 0xd503219f};
    const uint32_t *code = (const uint32_t *)jp_arch_pc_sig(context);
    const uint32_t *start = code;
    unsigned last = 0;
    *pushed = 0;
    if (*code == 0xa9bf7bf0) /* stp x16, x30, [sp, #-16]! */
        return 1;
    for (; (*code & 0xffffffdf) != 0xd61f0200; code++) {
        unsigned i = last;
        while (i < 5 && (*code & mask[i]) != want[i])
            i++;
        if (i == 5)
            return 0;
        last = i + 1;
    }
    /* Whether the push is before pc: it stands right before adrp, which is at
     * most three instructions before br. */
    for (unsigned i = 0; i < 4 && ((uintptr_t)start & 4095) != 0; i++) {
        if (start[-1] == 0xa9bf7bf0) {
            *pushed = 16;
            break;
        }
        start--;
    }
    return 1;
}

/* DWARF's register numbers (DWARF for the Arm 64-bit Architecture, 4.1); 32
 * stands for the pc.  SAVED lists the first of the callee-saved registers
 * besides sp and x29; compilers compute no CFA from any of them. */
#define JP_ARCH_SP 31U
#define JP_ARCH_FP 29U
#define JP_ARCH_RA 30U
#define JP_ARCH_SAVED {19, 20, 21, 22, 23}
#define JP_ARCH_SAVED_COUNT 5U
/* 1: compilers put the frame record at the low end of a frame (AAPCS64, 6.4.6,
 * leaves the place free), so a frame pointer does not tell where the caller's
 * frame begins. */
#define JP_ARCH_FRAMES_LOW 1
/* See x86_64.h (AAPCS64, 6.4.6). */
#define JP_ARCH_FRAME_FP 0ULL
#define JP_ARCH_FRAME_RA 8ULL
#define JP_ARCH_FRAME_END 16ULL
/* See x86_64.h.  The call-frame information of glibc's _dl_runtime_resolve
 * (sysdeps/aarch64/dl-trampoline.S) says that the return address is above its
 * CFA: it is the second of two words that the stub has pushed, above which the
 * caller's frame begins. */
#define JP_ARCH_STUB_WORDS 2

/* See x86_64.h (MINSIGSTKSZ, asm/signal.h). */
#define JP_ARCH_LEAST_STACK 5120U

/* See x86_64.h.  The frame of a signal begins with the siginfo_t. */
#define JP_ARCH_SIGNAL_CONTEXT 128U
/* The trampoline's code: mov x8, #__NR_rt_sigreturn; svc #0.  The kernel's
 * trampoline, in the vdso, has no call-frame information since Linux 5.8. */
#define JP_ARCH_SIGRETURN {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4}
#define JP_ARCH_SIGRETURN_FIRST 4U /* bytes of its first instruction */
#define JP_ARCH_SIGNAL_BYTES                                                  \
    (offsetof(ucontext_t, uc_mcontext.pc) + 8U)

/* Stores the context's registers in `registers`, by their DWARF numbers. */
static inline void jp_arch_registers_sig(const ucontext_t *context,
                                         uint64_t registers[])
{
    for (unsigned i = 0; i < 31; i++)
        registers[i] = context->uc_mcontext.regs[i];
    registers[31] = context->uc_mcontext.sp;
    registers[32] = context->uc_mcontext.pc;
}

/* Returns a return address without its signature: user addresses have at most
 * 48 bits (pointer authentication and tags use the bits above). */
static inline uint64_t jp_arch_strip_sig(uint64_t address)
{
    return address & 0xffffffffffffULL;
}

/* See x86_64.h.  Calls are bl, and blr in all forms (Arm ARM, C4.1.93). */
static inline int jp_arch_is_call_sig(const uint8_t *code)
{
    const uint32_t word = jp_arch_word_sig(code);
    return word >> 26 == 0x25 || (word & 0xfefff000) == 0xd63f0000;
}

static inline uint64_t jp_arch_thread_sig(void)
{
    uint64_t thread;
    __asm__ volatile("mrs %0, tpidr_el0" : "=r"(thread));
    return thread;
}

/* See x86_64.h.  The request's address is in x4, the answer in x3. */
static inline int jp_arch_in_valgrind(void)
{
    const uint64_t request[6] = {0x1001};
    register const uint64_t *x4 __asm__("x4") = request;
    register uint64_t x3 __asm__("x3") = 0;
    __asm__ volatile("ror x12, x12, #3\nror x12, x12, #13\n"
                     "ror x12, x12, #51\nror x12, x12, #61\n"
                     "orr x10, x10, x10"
                     : "+r"(x3)
                     : "r"(x4)
                     : "memory");
    return x3 != 0;
}

#define JP_ARCH_KEYS_ENTER(section, name, to)                                  \
    JP_ARCH_FUNCTION(section, "4", name,                                       \
        ".hidden " name "\n"                                                   \
        "hint #34\n" /* bti c */                                               \
        "b " to "\n")

/* (From another register than x16 or x17 bti c would let nobody in.) */
#define JP_ARCH_KEYS_LEAVE(name)                                               \
    JP_ARCH_FUNCTION(".text", "4", name,                                       \
        ".hidden " name "\n"                                                   \
        "mov x16, x4\n"                                                        \
        "br x16\n")

#define JP_ARCH_THREAD_WORD 0ULL

/* See x86_64.h.  The trap is in x3, and at jp_trap_land in x0.  The shadow
 * stack is the guarded control stack: chkfeat (hint #40) clears bit 0 of x16
 * where it is on; then s3_3_c2_c5_1 is its pointer, GCSPR_EL0, and sysl #3, c7,
 * c7, #1 is gcspopm, which takes one word off (Arm ARM, FEAT_GCS). */
#define JP_ARCH_TRAP                                                           \
    JP_ARCH_FUNCTION(".text", "16", "jp_trap_walk_sig",                        \
    ".hidden jp_trap_walk_sig\n"                                               \
    "stp x19, x20, [x3]\nstp x21, x22, [x3, #16]\n"                            \
    "stp x23, x24, [x3, #32]\nstp x25, x26, [x3, #48]\n"                       \
    "stp x27, x28, [x3, #64]\nstp x29, x30, [x3, #80]\n"                       \
    "mov x9, sp\nstr x9, [x3, #96]\n"                                          \
    "stp d8, d9, [x3, #104]\nstp d10, d11, [x3, #120]\n"                       \
    "stp d12, d13, [x3, #136]\nstp d14, d15, [x3, #152]\n"                     \
    "mov x9, xzr\nmov x16, #1\nhint #40\n"                                     \
    "tbnz x16, #0, 1f\nmrs x9, s3_3_c2_c5_1\n"                                 \
    "1: str x9, [x3, #168]\n"                                                  \
    "b jp_walk_sig\n"                                                          \
    ".globl jp_trap_land\n.hidden jp_trap_land\njp_trap_land:\n"               \
    "ldp x19, x20, [x0]\nldp x21, x22, [x0, #16]\n"                            \
    "ldp x23, x24, [x0, #32]\nldp x25, x26, [x0, #48]\n"                       \
    "ldp x27, x28, [x0, #64]\nldp x29, x30, [x0, #80]\n"                       \
    "ldp d8, d9, [x0, #104]\nldp d10, d11, [x0, #120]\n"                       \
    "ldp d12, d13, [x0, #136]\nldp d14, d15, [x0, #152]\n"                     \
    "ldr x9, [x0, #168]\ncbz x9, 2f\n"                                         \
    "1: mrs x10, s3_3_c2_c5_1\ncmp x10, x9\nb.hs 2f\n"                         \
    "sysl xzr, #3, c7, c7, #1\nb 1b\n"                                         \
    "2:\n"                                                                     \
    "mov w0, #-1\n"                                                            \
    "ret\n")

/* See x86_64.h (sysdeps/unix/sysv/linux/aarch64/libc.abilist). */
#define JP_ARCH_GLIBC "GLIBC_2.17"
#define JP_ARCH_OLDER 0

/* See x86_64.h.  The stub's record is in x16; no caller keeps a value in x9 to
 * x17 over a call. */
#define JP_ARCH_ENTRY_STUB(name, id)                                           \
    JP_ARCH_FUNCTION(".text.jp_entry_stubs", "16", name,                       \
        "hint #34\n" /* bti c */                                               \
        "adrp x16, jp_entry_stub_" id "\n"                                     \
        "add x16, x16, :lo12:jp_entry_stub_" id "\n"                           \
        "b jp_gate\n")

/* See x86_64.h.  The answer is in x17. */
#define JP_ARCH_ASIDE(call)                                                   \
    "stp x29, x30, [sp, #-112]!\n"                                            \
    ".cfi_def_cfa_offset 112\n"                                               \
    ".cfi_offset x29, -112\n"                                                 \
    ".cfi_offset x30, -104\n"                                                 \
    "mov x29, sp\n"                                                           \
    "stp x0, x1, [sp, #16]\n"                                                 \
    "stp x2, x3, [sp, #32]\n"                                                 \
    "stp x4, x5, [sp, #48]\n"                                                 \
    "stp x6, x7, [sp, #64]\n"                                                 \
    "stp x8, x16, [sp, #80]\n"                                                \
    call "mov x17, x0\n"                                                      \
    "ldp x0, x1, [sp, #16]\n"                                                 \
    "ldp x2, x3, [sp, #32]\n"                                                 \
    "ldp x4, x5, [sp, #48]\n"                                                 \
    "ldp x6, x7, [sp, #64]\n"                                                 \
    "ldp x8, x16, [sp, #80]\n"                                                \
    "ldp x29, x30, [sp], #112\n"                                              \
    ".cfi_restore x29\n"                                                      \
    ".cfi_restore x30\n"                                                      \
    ".cfi_def_cfa_offset 0\n"

#define JP_ARCH_GATE                                                           \
    JP_ARCH_FUNCTION(".text.jp_entry_stubs", "16", "jp_gate",                  \
    ".hidden jp_gate\n"                                                        \
    "adrp x9, jp_owner\n"                                                      \
    "ldr x9, [x9, :lo12:jp_owner]\n"                                           \
    "cbz x9, 1f\n"                                                             \
    "ldr w9, [x9]\n"                                                           \
    "cbz w9, 1f\n"                                                             \
    "mrs x9, tpidr_el0\n"                                                      \
    "ubfx x10, x9, #12, #12\n"                                                 \
    "adrp x11, jp_gate_known\n"                                                \
    "add x11, x11, :lo12:jp_gate_known\n"                                      \
    "ldr x11, [x11, x10, lsl #3]\n"                                            \
    "cmp x11, x9\n"                                                            \
    "b.ne 2f\n"                                                                \
    "cbz x9, 2f\n"                                                             \
    "ldr x11, [x9]\n"                                                          \
    "cbz x11, 2f\n"                                                            \
    "3: ldr x17, [x16, #8]\n"                                                  \
    "br x17\n"                                                                 \
    "1: ldr x17, [x16]\n"                                                      \
    "br x17\n"                                                                 \
    "2:\n"                                                                     \
    JP_ARCH_ASIDE("bl jp_gate_ask_sig\n")                                      \
    "cbnz w17, 3b\n"                                                           \
    "b 1b\n")                                                                  \
    JP_ARCH_FUNCTION(".text.jp_entry_stubs", "16", "jp_entry_stub_seek",       \
    ".hidden jp_entry_stub_seek\n"                                             \
    "hint #34\n"                                                               \
    JP_ARCH_ASIDE("mov x0, x16\nbl jp_real\n")                                 \
    "br x17\n")

#endif
