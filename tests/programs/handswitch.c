/* SPDX-License-Identifier: MIT
 *
 * A coroutine whose stack is switched to by hand, as by Boost.Context: no
 * call-frame information for the switch, and none for what is above the base.
 *     handswitch SECONDS
 * Spends them by halves, in_coroutine and at_home; prints `switched N`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <sys/mman.h>

#define STACK (64UL << 10)
#define SLICE 100000

/* Keeps what calls preserve and sp at *from, and takes those at to. */
void switch_stack(void **from, void *to);
void coroutine_base(void);
NOINLINE void coroutine_body(void);
NOINLINE void in_coroutine(void);
NOINLINE void at_home(void);

#if defined(__x86_64__)
#define KEPT 6U /* registers */
__asm__(".text\n"
        ".globl switch_stack\n.type switch_stack, @function\n"
        "switch_stack:\n"
        "push %rbp\n push %rbx\n push %r12\n"
        "push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n"
        "pop %r12\n pop %rbx\n pop %rbp\n"
        "ret\n"
        ".size switch_stack, . - switch_stack\n"
        ".globl coroutine_base\n.type coroutine_base, @function\n"
        ".cfi_startproc\n"
        "nop\n" /* so that it seems to have been called */
        "coroutine_base:\n"
        ".cfi_undefined rip\n"
        "call coroutine_body\n"
        "ud2\n"
        ".cfi_endproc\n"
        ".size coroutine_base, . - coroutine_base\n");
#else
#define KEPT 12U /* x19 to x30 */
__asm__(".text\n"
        ".globl switch_stack\n.type switch_stack, %function\n"
        "switch_stack:\n"
        "stp x29, x30, [sp, #-96]!\n"
        "stp x19, x20, [sp, #16]\n stp x21, x22, [sp, #32]\n"
        "stp x23, x24, [sp, #48]\n stp x25, x26, [sp, #64]\n"
        "stp x27, x28, [sp, #80]\n"
        "mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
        "ldp x19, x20, [sp, #16]\n ldp x21, x22, [sp, #32]\n"
        "ldp x23, x24, [sp, #48]\n ldp x25, x26, [sp, #64]\n"
        "ldp x27, x28, [sp, #80]\n ldp x29, x30, [sp], #96\n"
        "ret\n"
        ".size switch_stack, . - switch_stack\n"
        ".globl coroutine_base\n.type coroutine_base, %function\n"
        ".cfi_startproc\n"
        "nop\n"
        "coroutine_base:\n"
        ".cfi_undefined x30\n"
        "bl coroutine_body\n"
        "brk #1\n"
        ".cfi_endproc\n"
        ".size coroutine_base, . - coroutine_base\n");
#endif

static void *home, *away;
static long switched;

void in_coroutine(void)
{
    FRAME();
    turn(SLICE);
}

void coroutine_body(void)
{
    FRAME();
    for (;;) {
        in_coroutine();
        switch_stack(&away, home);
        switched++;
    }
}

void at_home(void)
{
    FRAME();
    turn(SLICE);
}

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 1, 0.5);
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 1;
    /* As if it had switched away just before its first instruction.  Above
     * it lies what could be taken for a caller. */
    uint64_t *top = (uint64_t *)(stack + STACK - 256);
    for (unsigned i = KEPT; i < 256 / sizeof(*top); i++)
        top[i] = (uint64_t)at_home + 4;
#if defined(__x86_64__)
    top[KEPT] = (uint64_t)coroutine_base;
#else
    top[1] = (uint64_t)coroutine_base;
#endif
    away = top;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        switch_stack(&home, away);
        at_home();
    }
    printf("switched %ld\n", switched);
    return 0;
}
