/* SPDX-License-Identifier: MIT
 *
 * A program that calls a function at NULL again and again, and goes on behind
 * the call from its handler of SIGSEGV.
 *     nullcall SECONDS
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <setjmp.h>
#include <signal.h>

static sigjmp_buf behind;

static void on_fault(int number)
{
    (void)number;
    siglongjmp(behind, 1);
}

int main(int count, char **words)
{
    const double seconds = count > 1 ? atof(words[1]) : 1;
    const struct sigaction action = {.sa_handler = on_fault};
    void (*volatile missing)(void) = NULL;
    volatile unsigned calls = 0;
    sigaction(SIGSEGV, &action, NULL);
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        if (sigsetjmp(behind, 1) == 0)
            missing();
        calls = calls + 1;
    }
    puts(calls > 1000 ? "calls" : "few calls");
    return 0;
}
