/* SPDX-License-Identifier: MIT
 *
 * riscv64, as tests/cross/walk.c sees it: said here anew, not taken from
 * preload/sig/arch, which it tests.
 * Runs in: tests (riscv64). */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#define BREAK_BYTES 2U
#define BREAK                                                                  \
    {                                                                          \
        0x02, 0x90                                                             \
    } /* c.ebreak (RISC-V manual, volume I, 16.8) */

/* Two, or four where the lowest two bits are set (the same, 1.5). */
static inline unsigned instruction_bytes(const uint8_t *code)
{
    return (code[0] & 3) == 3 ? 4 : 2;
}

static inline uint64_t pc_of(const ucontext_t *context)
{
    return context->uc_mcontext.__gregs[0];
}

/* The return address, before the function has done anything. */
static inline uint64_t link_of(const ucontext_t *context)
{
    return context->uc_mcontext.__gregs[1];
}

/* A linker's stub, without call-frame information (RISC-V ELF psABI, "Procedure
 * Linkage Table").  Handlers return to the kernel's trampoline. */
#define STUBS                                                                  \
    ".section stubs, \"ax\", @progbits\n.option push\n.option norelax\n"       \
    ".option norvc\n.balign 16\n.type stub, %function\n"                       \
    "stub: auipc t3, %pcrel_hi(stub_slot)\n"                                   \
    "ld t3, %pcrel_lo(stub)(t3)\njalr t1, t3\n.size stub, . - stub\n"          \
    ".option pop\n.text\n"

/* What the kernel takes (asm-generic/signal.h). */
struct kernel_action {
    void *handler;
    unsigned long flags;
    uint64_t mask;
};
#define RESTORER_FLAG 0UL

static inline void set_restorer(struct kernel_action *action)
{
    (void)action;
}

/* li a7, 139 (rt_sigreturn: asm-generic/unistd.h); ecall. */
static inline int is_trampoline(uint64_t pc)
{
    static const uint8_t code[] = {0x93, 0x08, 0xb0, 0x08,
                                   0x73, 0x00, 0x00, 0x00};
    return (pc & 1) == 0 &&
           memcmp((const void *)(uintptr_t)pc, code, sizeof(code)) == 0;
}

static inline void say_more(void)
{
}

#endif
