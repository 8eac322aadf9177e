/* SPDX-License-Identifier: MIT
 *
 * Spins in code of a language with a stack of its own, as GHC's Haskell:
 *     ownstack [SECONDS=0.5]
 * The frame pointer's register is that stack's pointer.  The code has no
 * call-frame information; it is jumped to by a function that makes 16,432 bytes
 * of room on the thread's stack (GHC's rts/StgCRun.c), and jumps to what the
 * word at its stack's top says.  Some of the time is spent outside of it.
 * Runs in: tests. */
#include "common.h"

#ifdef __x86_64__

/* Runs the code at `code` with its stack at `stack`. */
void stg_run(void (*code)(void), void **stack);
void hs_work(void);
void hs_return(void);

__asm__(".text\n"
        ".type stg_run, @function\n"
        "stg_run:\n"
        "subq $48, %rsp\n"
        "movq %rsp, %rax\n"
        "subq $16384, %rsp\n"
        "movq %rbx, 0(%rax)\n"
        "movq %rbp, 8(%rax)\n"
        "movq %rsi, %rbp\n"
        "movq %rdi, %rax\n"
        "jmp *%rax\n"
        ".size stg_run, . - stg_run\n"
        ".type hs_work, @function\n"
        "hs_work:\n"
        "movq $300000, %rcx\n"
        "1: decq %rcx\n"
        "jnz 1b\n"
        "jmp *(%rbp)\n"
        ".size hs_work, . - hs_work\n"
        ".type hs_return, @function\n"
        "hs_return:\n"
        "leaq 16384(%rsp), %rax\n"
        "movq 0(%rax), %rbx\n"
        "movq 8(%rax), %rbp\n"
        "addq $16432, %rsp\n"
        "ret\n"
        ".size hs_return, . - hs_return\n");

int main(int argc, char **argv)
{
    static void *stack[64];
    const double seconds = argument(argc, argv, 1, 0.5);
    volatile uint64_t sum = 0;

    for (int i = 0; i < 64; i++)
        stack[i] = (void *)hs_return;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds) {
        for (int i = 0; i < 32; i++)
            stg_run(hs_work, stack + i % 8);
        sum = sum + turn(20000);
    }
    return sum == 1;
}

#else

int main(void)
{
    return 64;
}

#endif
