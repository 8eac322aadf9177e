/* SPDX-License-Identifier: MIT
 *
 * A function that jumps to its own first instruction is interrupted there, for
 * so many CPU seconds, by a signal of the program's, whose handler takes most
 * of the time:
 *     firstbyte [SECONDS=0.5]
 * Another function ends where it begins.
 * Runs in: tests. */
#include <signal.h>
#include <sys/time.h>

#include "common.h"

void before_it(void);
void at_first(void);

#ifdef __x86_64__
#define NOTHING "nop\n"
#define AGAIN "jmp at_first\n"
#else
#define NOTHING "nop\n"
#define AGAIN "b at_first\n"
#endif

__asm__(".text\n"
        ".globl before_it\n.globl at_first\n"
        ".type before_it, @function\n.type at_first, @function\n"
        "before_it: .cfi_startproc\n" NOTHING NOTHING NOTHING NOTHING
        ".cfi_endproc\n.size before_it, . - before_it\n"
        "at_first: .cfi_startproc\n" AGAIN
        ".cfi_endproc\n.size at_first, . - at_first\n");

static double until;
static volatile uint64_t sum;

static void in_handler(int number)
{
    (void)number;
    if (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) >= until)
        _exit(0);
    for (int i = 0; i < 40; i++)
        sum += turn(100000);
}

int main(int argc, char **argv)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}};

    until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + argument(argc, argv, 1, 0.5);
    signal(SIGALRM, in_handler);
    setitimer(ITIMER_REAL, &often, NULL);
    at_first();
    before_it();
    return 0;
}
