/* SPDX-License-Identifier: MIT
 *
 * Works for a time, and then as long with a thread pointer of its own, that
 * leads to zeros:
 *     ownpointer SECONDS
 * Prints `cpu S` of the latter.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <sys/syscall.h>

#ifdef __x86_64__
#include <asm/prctl.h>

static char zeros[8192] __attribute__((aligned(64)));

/* Past the C library, which has its errno behind the pointer. */
static long raw(long number, long a, long b)
{
    long result = number;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(a), "S"(b)
                     : "rcx", "r11", "memory");
    return result;
}

__attribute__((no_stack_protector)) static double now(void)
{
    struct timespec time;
    raw(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((no_stack_protector)) int main(int argc, char **argv)
{
    const double length = argument(argc, argv, 1, 0.3);
    uint64_t pointer;
    raw(SYS_arch_prctl, ARCH_GET_FS, (long)&pointer);
    double start = now();
    while (now() < start + length)
        ;
    start = now();
    raw(SYS_arch_prctl, ARCH_SET_FS, (long)(zeros + 4096));
    double end = now();
    while (end < start + length)
        end = now();
    raw(SYS_arch_prctl, ARCH_SET_FS, (long)pointer);
    printf("cpu %f\n", end - start);
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
