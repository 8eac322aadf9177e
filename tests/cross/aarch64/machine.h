/* SPDX-License-Identifier: MIT
 *
 * aarch64, as tests/cross/walk.c sees it: said here anew, not taken from
 * preload/sig/arch, which it tests.
 * Runs in: tests (aarch64). */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <ucontext.h>

#define BREAK_BYTES 4U
#define BREAK                                                                  \
    {                                                                          \
        0x00, 0x00, 0x20, 0xd4                                                 \
    } /* brk #0 (Arm ARM, C6.2) */

static inline unsigned instruction_bytes(const uint8_t *code)
{
    (void)code;
    return 4;
}

static inline uint64_t pc_of(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

/* The return address, before the function has done anything, less what signs
 * it. */
static inline uint64_t link_of(const ucontext_t *context)
{
    return context->uc_mcontext.regs[30] & 0xffffffffffffULL;
}

/* A linker's stub (ELF for the Arm 64-bit Architecture, "PLT Sequences and
 * Usage Models"), and a trampoline as the kernel's: behind a nop.  Both without
 * call-frame information. */
#define STUBS                                                                  \
    ".section stubs, \"ax\", @progbits\n.balign 16\n"                          \
    ".type stub, %function\nstub: adrp x16, stub_slot\n"                       \
    "ldr x17, [x16, :lo12:stub_slot]\nadd x16, x16, :lo12:stub_slot\n"         \
    "br x17\n.size stub, . - stub\n"                                           \
    ".text\n.balign 16\nnop\nnop\nnop\nnop\n"                                  \
    ".globl trampoline\n.type trampoline, %function\n"                         \
    "trampoline: mov x8, #139\nsvc #0\n.size trampoline, . - trampoline"

/* More functions without call-frame information: one that keeps no frame
 * pointer, ones that end in a jump, and one that makes its frame in two steps
 * and gives it up in two. */
#define PLAIN                                                                  \
    PLAIN_CASE(plain_link)                                                     \
    "str x30, [sp, #-16]!\nadd x0, x0, #1\nbl bottom\nadd x0, x0, #1\n"        \
    "ldr x30, [sp], #16\nadd x0, x0, #1\nret\n.popsection\n" PLAIN_CASE(       \
        plain_jump) "cbz x0, 1f\nadrp x16, bottom\nadd x16, x16, "             \
                    ":lo12:bottom\nbr x16\n"                                   \
                    "1: b bottom\n.popsection\n" PLAIN_CASE(                   \
                        plain_steps) "sub sp, sp, #48\nstp x29, x30, [sp, "    \
                                     "#16]\nadd x29, sp, #16\n"                \
                                     "bl bottom\nadd x0, x0, #1\nldp x29, "    \
                                     "x30, [sp, #16]\n"                        \
                                     "add sp, sp, #48\nret\n.popsection\n"
#define PLAIN_CASE(name)                                                       \
    ".pushsection cases_" #name ", \"ax\", @progbits\n.balign 16\n"            \
    ".globl " #name "\n.type " #name ", %function\n" #name ":\n"

/* What the kernel takes (asm-generic/signal.h). */
struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};
#define RESTORER_FLAG 0x04000000UL /* SA_RESTORER */

extern void trampoline(void);

static inline void set_restorer(struct kernel_action *action)
{
    action->restorer = (void *)(uintptr_t)trampoline;
}

static inline int is_trampoline(uint64_t pc)
{
    return pc == (uint64_t)(uintptr_t)trampoline;
}

static inline void say_more(void)
{
#ifdef __ARM_FEATURE_PAC_DEFAULT
    printf("pointer authentication: %s\n",
           (getauxval(AT_HWCAP) >> 30 & 1) != 0 ? "signed" : "not here");
#endif
}

#endif
