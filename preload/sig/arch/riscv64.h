/* SPDX-License-Identifier: MIT
 *
 * riscv64 (LP64D): system calls and the registers of an interrupted context.
 * "psABI" is the RISC-V ELF psABI specification 1.0, "manual" the RISC-V
 * Instruction Set Manual, volume I, 20191213.
 * Runs in: handler, any thread. */
#ifndef JP_ARCH_RISCV64_H
#define JP_ARCH_RISCV64_H

#include <elf.h>
#include <linux/audit.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "function.h"
#include "step.h"

#define JP_ARCH_MACHINE EM_RISCV
#define JP_ARCH_AUDIT AUDIT_ARCH_RISCV64 /* seccomp_data.arch */

/* See x86_64.h.  The kernel has no renameat here (asm-generic/unistd.h,
 * __ARCH_WANT_RENAMEAT). */
#define JP_ARCH_RENAME SYS_renameat2

/* The structure of rt_sigaction.  It has no restorer here, as asm/signal.h has
 * no SA_RESTORER (asm-generic/signal.h). */
struct jp_arch_action {
    void (*handler)(int);
    unsigned long flags;
    uint64_t mask;
};

/* See restorer.h.  There is nothing to copy here. */
static inline void jp_arch_restorer_get(const struct jp_arch_action *from,
                                        struct sigaction *to)
{
    (void)from;
    (void)to;
}

static inline void jp_arch_restorer_set(struct jp_arch_action *to,
                                        const struct sigaction *from)
{
    (void)to;
    (void)from;
}

/* Makes a system call with up to six arguments.  Returns the kernel's answer,
 * -errno (-4095 to -1) on failure, and leaves errno alone.  (syscall(2),
 * "Architecture calling conventions".) */
static inline long jp_arch_syscall_sig(long number, const long a[6])
{
    const long v0 = a[0], v1 = a[1], v2 = a[2], v3 = a[3], v4 = a[4],
               v5 = a[5]; /* read first: see x86_64.h */
    register long a7 __asm__("a7") = number;
    register long a0 __asm__("a0") = v0;
    register long a1 __asm__("a1") = v1;
    register long a2 __asm__("a2") = v2;
    register long a3 __asm__("a3") = v3;
    register long a4 __asm__("a4") = v4;
    register long a5 __asm__("a5") = v5;
    __asm__ volatile("ecall"
                     : "+r"(a0)
                     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
                     : "memory");
    return a0;
}

/* See x86_64.h.  Here atomic instructions change only words (manual, 8.2 and
 * 8.4), and GCC before 13 calls a library for bytes. */
static inline int jp_arch_swap_byte_sig(_Atomic uint8_t *byte, uint8_t from,
                                        uint8_t to)
{
    const unsigned shift = ((uintptr_t)byte & 3) * 8;
    uint32_t *word = (uint32_t *)((uintptr_t)byte - shift / 8);
    uint32_t old = __atomic_load_n(word, __ATOMIC_RELAXED), changed;
    do {
        if ((uint8_t)(old >> shift) != from)
            return 0;
        changed = old ^ (uint32_t)(from ^ to) << shift;
    } while (!__atomic_compare_exchange_n(word, &old, changed, 1,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return 1;
}

/* The register xN of a context is at index N, and the pc at index 0, in the
 * place of x0 (asm/ptrace.h, struct user_regs_struct; sys/ucontext.h). */
#define JP_ARCH_X(context, number)                                            \
    ((context)->uc_mcontext.__gregs[number])

#define JP_ARCH_REG_PC(context) JP_ARCH_X(context, REG_PC)
#define JP_ARCH_REG_SP(context) JP_ARCH_X(context, REG_SP)
/* The frame pointer is s0 (psABI, "Frame Pointer Convention"). */
#define JP_ARCH_REG_FP(context) JP_ARCH_X(context, REG_S0)
#define JP_ARCH_REG_NUMBER(context) JP_ARCH_X(context, REG_A0 + 7)
#define JP_ARCH_REG_RESULT(context) JP_ARCH_X(context, REG_A0)
#define JP_ARCH_REG_FIRST(context) JP_ARCH_X(context, REG_A0)
#define JP_ARCH_REG_SECOND(context) JP_ARCH_X(context, REG_A0 + 1)
#define JP_ARCH_REG_THIRD(context) JP_ARCH_X(context, REG_A0 + 2)

/* ecall is 0x00000073 (manual, 2.8).  An instruction of two bytes may be the
 * last of its page, so the second half is read only where the first says that
 * there is one. */
#define JP_ARCH_SYSCALL_BYTES 4U
static inline int jp_arch_is_syscall_sig(const uint8_t *code)
{
    const uint16_t *half = (const uint16_t *)code;
    return half[0] == 0x0073 && half[1] == 0;
}

/* (rt_sigframe, setup_rt_frame: arch/riscv/kernel/signal.c in Linux.) */
#define JP_ARCH_FRAME_CONTEXT 128U
#define JP_ARCH_FRAME_INFO 0U

#define JP_ARCH_TRAP_SP 13
#define JP_ARCH_TRAP_REGISTERS 26

#include "context.h"
#include "link_register.h"

/* An instruction of a linker's stub: its bits under `mask` are `want`. */
struct jp_arch_word {
    uint32_t mask, want;
};

/* Whether the code at pc is the whole sequence `words` or an end of it. */
static inline int jp_arch_ends_sig(const uint32_t *code,
                                   const struct jp_arch_word *words,
                                   unsigned count)
{
    unsigned i = 0;
    while (i < count && (*code & words[i].mask) != words[i].want)
        i++;
    if (i == count)
        return 0;
    while (++i < count) {
        if ((*++code & words[i].mask) != words[i].want)
            return 0;
    }
    return 1;
}

/* See aarch64.h.  Here the return address of a linker's stub is in ra, and
 * stubs push nothing.  The first entry of the PLT differs from the others
 * (psABI, "Procedure Linkage Table"). */
static inline int jp_arch_stub_sig(const ucontext_t *context, uint64_t *pushed)
{
    static const struct jp_arch_word first[] = {
        {0x00000fff, 0x00000397},  /* auipc t2, %pcrel_hi(.got.plt) */
        {0xffffffff, 0x41c30333},  /* sub t1, t1, t3 */
        {0x000fffff, 0x0003be03},  /* ld t3, %pcrel_lo(1b)(t2) */
        {0x000fffff, 0x00030313},  /* addi t1, t1, -(header + 12) */
        {0x000fffff, 0x00038293},  /* addi t0, t2, %pcrel_lo(1b) */
        {0xffffffff, 0x00135313},  /* srli t1, t1, 1 */
        {0xffffffff, 0x0082b283},  /* ld t0, 8(t0) */
        {0xffffffff, 0x000e0067}}; /* jr t3 */
    static const struct jp_arch_word other[] = {
        {0x00000fff, 0x00000e17},  /* auipc t3, %pcrel_hi(slot) */
        {0x000fffff, 0x000e3e03},  /* ld t3, %pcrel_lo(1b)(t3) */
        {0xffffffff, 0x000e0367}}; /* jalr t1, t3 */
    const uint32_t *code = (const uint32_t *)jp_arch_pc_sig(context);
    *pushed = 0;
    /* Stubs are aligned, and all their instructions have four bytes. */
    return ((uintptr_t)code & 3) == 0 &&
           (jp_arch_ends_sig(code, first, sizeof(first) / sizeof(*first)) ||
            jp_arch_ends_sig(code, other, sizeof(other) / sizeof(*other)));
}

/* DWARF's register numbers (psABI, "DWARF Register Numbers"): 0 to 31 are x0 to
 * x31.  32 stands for the pc here; in DWARF it is ft0, which has no address.
 * SAVED lists the first of the callee-saved registers besides sp and s0 (psABI,
 * "Integer Register Convention"): s1 to s5. */
#define JP_ARCH_SP 2U
#define JP_ARCH_FP 8U
#define JP_ARCH_RA 1U
#define JP_ARCH_SAVED {9, 18, 19, 20, 21}
#define JP_ARCH_SAVED_COUNT 5U
/* 0: the frame pointer is the CFA; the return address and the caller's frame
 * pointer are below it (psABI, "Frame Pointer Convention"). */
#define JP_ARCH_FRAMES_LOW 0
#define JP_ARCH_FRAME_FP ((uint64_t)-16)
#define JP_ARCH_FRAME_RA ((uint64_t)-8)
#define JP_ARCH_FRAME_END 0ULL
/* See aarch64.h.  Here the call-frame information of glibc's
 * _dl_runtime_resolve does not describe its frame
 * (sysdeps/riscv/dl-trampoline.S). */
#define JP_ARCH_STUB_WORDS 0

/* See x86_64.h (MINSIGSTKSZ, asm-generic/signal.h). */
#define JP_ARCH_LEAST_STACK 2048U

/* See x86_64.h.  The frame of a signal begins with the siginfo_t (Linux,
 * arch/riscv/kernel/signal.c, struct rt_sigframe). */
#define JP_ARCH_SIGNAL_CONTEXT 128U
/* The trampoline's code: li a7, __NR_rt_sigreturn; ecall.  The call-frame
 * information of the kernel's trampoline, in the vdso, has no registers
 * (arch/riscv/kernel/vdso/rt_sigreturn.S). */
#define JP_ARCH_SIGRETURN {0x93, 0x08, 0xb0, 0x08, 0x73, 0x00, 0x00, 0x00}
#define JP_ARCH_SIGRETURN_FIRST 4U /* bytes of its first instruction */
#define JP_ARCH_SIGNAL_BYTES                                                  \
    (offsetof(ucontext_t, uc_mcontext.__gregs) + 32 * 8U)

/* Stores the context's registers in `registers`, by their DWARF numbers. */
static inline void jp_arch_registers_sig(const ucontext_t *context,
                                         uint64_t registers[])
{
    registers[0] = 0;
    for (unsigned i = 1; i < 32; i++)
        registers[i] = JP_ARCH_X(context, i);
    registers[32] = JP_ARCH_X(context, REG_PC);
}

/* See x86_64.h.  Return addresses are not signed here. */
static inline uint64_t jp_arch_strip_sig(uint64_t address)
{
    return address;
}

/* See x86_64.h.  Calls are jal ra, jalr ra in all forms, and c.jalr with any
 * register but x0, which makes it c.ebreak (manual, 2.5 and 16.4). */
static inline int jp_arch_is_call_sig(const uint8_t *code)
{
    const uint32_t word = jp_arch_word_sig(code);
    const uint32_t half = word >> 16;
    return (word & 0xfff) == 0x0ef || (word & 0x7fff) == 0x00e7 ||
           ((half & 0xf07f) == 0x9002 && (half & 0x0f80) != 0);
}

/* See x86_64.h.  Here the thread pointer is a register: tp. */
static inline uint64_t jp_arch_thread_sig(void)
{
    uint64_t thread;
    __asm__ volatile("mv %0, tp" : "=r"(thread));
    return thread;
}

/* See x86_64.h.  The request's address is in a4, the answer in a3; all
 * instructions have four bytes. */
static inline int jp_arch_in_valgrind(void)
{
    const uint64_t request[6] = {0x1001};
    register const uint64_t *a4 __asm__("a4") = request;
    register uint64_t a3 __asm__("a3") = 0;
    __asm__ volatile(".option push\n.option norvc\n"
                     "srli zero, zero, 3\nsrli zero, zero, 13\n"
                     "srli zero, zero, 51\nsrli zero, zero, 61\n"
                     "or a0, a0, a0\n.option pop"
                     : "+r"(a3)
                     : "r"(a4)
                     : "memory");
    return a3 != 0;
}

#define JP_ARCH_KEYS_ENTER(section, name, to)                                  \
    JP_ARCH_FUNCTION(section, "4", name,                                       \
        ".hidden " name "\n"                                                   \
        "tail " to "\n")

#define JP_ARCH_KEYS_LEAVE(name)                                               \
    JP_ARCH_FUNCTION(".text", "4", name,                                       \
        ".hidden " name "\n"                                                   \
        "jr a4\n")

/* See x86_64.h.  The thread's variables begin at tp; the address of the table
 * of its modules is the first of the two words below (psABI, "Thread Local
 * Storage"; glibc, sysdeps/riscv/nptl/tls.h, tcbhead_t). */
#define JP_ARCH_THREAD_WORD ((uint64_t)-16)

/* See x86_64.h.  The trap is in a3, and at jp_trap_land in a0. */
#define JP_ARCH_TRAP                                                           \
    JP_ARCH_FUNCTION(".text", "16", "jp_trap_walk_sig",                        \
    ".hidden jp_trap_walk_sig\n"                                               \
    "sd s0, 0(a3)\nsd s1, 8(a3)\nsd s2, 16(a3)\nsd s3, 24(a3)\n"               \
    "sd s4, 32(a3)\nsd s5, 40(a3)\nsd s6, 48(a3)\nsd s7, 56(a3)\n"             \
    "sd s8, 64(a3)\nsd s9, 72(a3)\nsd s10, 80(a3)\nsd s11, 88(a3)\n"           \
    "sd ra, 96(a3)\nsd sp, 104(a3)\n"                                          \
    "fsd fs0, 112(a3)\nfsd fs1, 120(a3)\nfsd fs2, 128(a3)\n"                   \
    "fsd fs3, 136(a3)\nfsd fs4, 144(a3)\nfsd fs5, 152(a3)\n"                   \
    "fsd fs6, 160(a3)\nfsd fs7, 168(a3)\nfsd fs8, 176(a3)\n"                   \
    "fsd fs9, 184(a3)\nfsd fs10, 192(a3)\nfsd fs11, 200(a3)\n"                 \
    "tail jp_walk_sig\n"                                                       \
    ".globl jp_trap_land\n.hidden jp_trap_land\njp_trap_land:\n"               \
    "ld s0, 0(a0)\nld s1, 8(a0)\nld s2, 16(a0)\nld s3, 24(a0)\n"               \
    "ld s4, 32(a0)\nld s5, 40(a0)\nld s6, 48(a0)\nld s7, 56(a0)\n"             \
    "ld s8, 64(a0)\nld s9, 72(a0)\nld s10, 80(a0)\nld s11, 88(a0)\n"           \
    "ld ra, 96(a0)\n"                                                          \
    "fld fs0, 112(a0)\nfld fs1, 120(a0)\nfld fs2, 128(a0)\n"                   \
    "fld fs3, 136(a0)\nfld fs4, 144(a0)\nfld fs5, 152(a0)\n"                   \
    "fld fs6, 160(a0)\nfld fs7, 168(a0)\nfld fs8, 176(a0)\n"                   \
    "fld fs9, 184(a0)\nfld fs10, 192(a0)\nfld fs11, 200(a0)\n"                 \
    "li a0, -1\n"                                                              \
    "ret\n")

/* See x86_64.h (sysdeps/unix/sysv/linux/riscv/rv64/libc.abilist). */
#define JP_ARCH_GLIBC "GLIBC_2.27"
#define JP_ARCH_OLDER 0

/* See x86_64.h.  The stub's record is in t3; no caller keeps a value in t3 to
 * t6 over a call, and `tail` overwrites t1. */
#define JP_ARCH_ENTRY_STUB(name, id)                                           \
    JP_ARCH_FUNCTION(".text.jp_entry_stubs", "16", name,                       \
        "lla t3, jp_entry_stub_" id "\n"                                       \
        "tail jp_gate\n")

/* See x86_64.h.  The answer is in t6. */
#define JP_ARCH_ASIDE(call)                                                   \
    "addi sp, sp, -96\n"                                                      \
    ".cfi_def_cfa_offset 96\n"                                                \
    "sd ra, 88(sp)\n"                                                         \
    ".cfi_offset ra, -8\n"                                                    \
    "sd s0, 80(sp)\n"                                                         \
    ".cfi_offset s0, -16\n"                                                   \
    "addi s0, sp, 96\n"                                                       \
    "sd a0, 0(sp)\nsd a1, 8(sp)\nsd a2, 16(sp)\nsd a3, 24(sp)\n"              \
    "sd a4, 32(sp)\nsd a5, 40(sp)\nsd a6, 48(sp)\nsd a7, 56(sp)\n"            \
    "sd t3, 64(sp)\n"                                                         \
    call "mv t6, a0\n"                                                        \
    "ld a0, 0(sp)\nld a1, 8(sp)\nld a2, 16(sp)\nld a3, 24(sp)\n"              \
    "ld a4, 32(sp)\nld a5, 40(sp)\nld a6, 48(sp)\nld a7, 56(sp)\n"            \
    "ld t3, 64(sp)\n"                                                         \
    "ld s0, 80(sp)\n"                                                         \
    ".cfi_restore s0\n"                                                       \
    "ld ra, 88(sp)\n"                                                         \
    ".cfi_restore ra\n"                                                       \
    "addi sp, sp, 96\n"                                                       \
    ".cfi_def_cfa_offset 0\n"

#define JP_ARCH_GATE                                                           \
    JP_ARCH_FUNCTION(".text.jp_entry_stubs", "16", "jp_gate",                  \
    ".hidden jp_gate\n"                                                        \
    "lla t4, jp_owner\n"                                                       \
    "ld t4, 0(t4)\n"                                                           \
    "beqz t4, 1f\n"                                                            \
    "lw t4, 0(t4)\n"                                                           \
    "beqz t4, 1f\n"                                                            \
    "slli t5, tp, 40\n" /* bits 12 to 23, in words */                          \
    "srli t5, t5, 52\n"                                                        \
    "slli t5, t5, 3\n"                                                         \
    "lla t6, jp_gate_known\n"                                                  \
    "add t6, t6, t5\n"                                                         \
    "ld t6, 0(t6)\n"                                                           \
    "bne t6, tp, 2f\n"                                                         \
    "beqz tp, 2f\n"                                                            \
    "ld t6, -16(tp)\n"                                                         \
    "beqz t6, 2f\n"                                                            \
    "3: ld t6, 8(t3)\n"                                                        \
    "jr t6\n"                                                                  \
    "1: ld t6, 0(t3)\n"                                                        \
    "jr t6\n"                                                                  \
    "2:\n"                                                                     \
    JP_ARCH_ASIDE("call jp_gate_ask_sig\n")                                    \
    "bnez t6, 3b\n"                                                            \
    "j 1b\n")                                                                  \
    JP_ARCH_FUNCTION(".text.jp_entry_stubs", "16", "jp_entry_stub_seek",       \
    ".hidden jp_entry_stub_seek\n"                                             \
    JP_ARCH_ASIDE("mv a0, t3\ncall jp_real\n")                                 \
    "jr t6\n")

/* See aarch64.h. */
#define JP_ARCH_STEP_BYTES 4U
static inline void jp_arch_step_sig(const uint8_t *code,
                                    struct jp_arch_step *step)
{
    (void)code;
    *step = (struct jp_arch_step){.length = 4, .kind = JP_STEP_END};
}

/* See x86_64_step.h.  Never here, where code is not gone through backwards. */
#define JP_ARCH_FRAMES_BYTES 4U
static inline int jp_arch_frames_sig(const uint8_t *code)
{
    (void)code;
    return 0;
}

static inline int64_t jp_arch_framed_sig(const uint8_t *code,
                                         const uint8_t *end)
{
    (void)code, (void)end;
    return -1;
}

/* See x86_64_step.h.  Never here: Erlang's code has its stack in another
 * register. */
#define JP_ARCH_BACK_BYTES 4U
static inline int jp_arch_back_sig(const uint8_t code[JP_ARCH_BACK_BYTES],
                                   struct jp_arch_back *back)
{
    (void)code, (void)back;
    return 0;
}

#define JP_ARCH_ALIGNS_BYTES 4U
static inline int jp_arch_aligns_sig(const uint8_t *code, uint64_t *room,
                                     uint64_t *alignment)
{
    (void)code, (void)room, (void)alignment;
    return 0;
}

#define JP_ARCH_JUMP_ROOM 0U
#define JP_ARCH_JUMP_FP 0U
static inline uint64_t jp_arch_jump_room_sig(const uint8_t *code,
                                             const uint8_t *end)
{
    (void)code, (void)end;
    return 0;
}

#define JP_ARCH_BEGUN_BYTES 4U
static inline int jp_arch_begun_sig(const uint8_t code[JP_ARCH_BEGUN_BYTES])
{
    (void)code;
    return 0;
}

#endif
