/* SPDX-License-Identifier: MIT
 *
 * A program whose main is entry code written by hand (x86-64), as Free
 * Pascal's: it has no call-frame information, clears the frame pointer, and
 * calls a function that does not return.  With "wrong" the call is followed by
 * nop, as a call that returns may be:
 *     entrycode SECONDS [wrong]
 * Runs in: tests. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "common.h"

void body(int argc, char **argv);

__attribute__((noinline)) static void spin(double seconds)
{
    const double until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        continue;
}

__attribute__((noreturn)) void body(int argc, char **argv)
{
    spin(argument(argc, argv, 1, 0.5));
    exit(0);
}

#ifdef __x86_64__
__asm__(".text\n"
        ".globl main\n"
        ".type main, @function\n"
        "main:\n"
        "  push %rbp\n"
        "  xor %ebp, %ebp\n"
        "  cmp $2, %edi\n"
        "  jg 1f\n"
        "  call body\n"
        "  hlt\n"
        "1: call body\n"
        "  nop\n"
        "  hlt\n"
        ".size main, . - main\n");
#else
int main(int argc, char **argv)
{
    body(argc, argv);
}
#endif
