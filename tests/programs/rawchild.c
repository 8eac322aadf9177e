/* SPDX-License-Identifier: MIT
 *
 * Makes a child past the C library, by an instruction of its own, which uses
 * CPU time, and uses some itself:
 *     rawchild [CHILD_SECONDS=0.3]
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static long raw_fork(void)
{
    long result;
#if defined __x86_64__
    register long r10 __asm__("r10") = 0;
    register long r8 __asm__("r8") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_clone), "D"((long)SIGCHLD), "S"(0L),
                       "d"(0L), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
#else
    register long x8 __asm__("x8") = SYS_clone;
    register long x0 __asm__("x0") = SIGCHLD;
    register long x1 __asm__("x1") = 0;
    register long x2 __asm__("x2") = 0;
    register long x3 __asm__("x3") = 0;
    register long x4 __asm__("x4") = 0;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                     : "memory");
    result = x0;
#endif
    return result;
}

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 1, 0.3);
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < 0.3)
        turn(100000);
    const long child = raw_fork();
    if (child == 0) {
        while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds)
            turn(100000);
        _exit(0);
    }
    if (child < 0 || waitpid((pid_t)child, NULL, 0) != child)
        die("waitpid");
    return 0;
}
