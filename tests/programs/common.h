/* SPDX-License-Identifier: MIT
 *
 * What the programs that tests profile have in common: CPU time measured by
 * the thread's own clock, and loops that no compiler removes.
 * Runs in: tests. */
#ifndef TEST_COMMON_H
#define TEST_COMMON_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
/* Keeps the compiler from moving work over this point. */
#define BARRIER() __asm__ volatile("" ::: "memory")

/* CPU seconds of a clock: CLOCK_THREAD_CPUTIME_ID or CLOCK_PROCESS_... */
static inline double cpu_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Makes the function set up a frame pointer: GCC spares a function that calls
 * no one, and a walk by frame pointers then misses its caller. */
#define FRAME() __asm__ volatile("" : : "r"(__builtin_frame_address(0)))

/* Arithmetic that depends on itself, `turns` times. */
static inline __attribute__((always_inline)) uint64_t turn(uint64_t turns)
{
    uint64_t value = turns | 1;
    for (uint64_t i = 0; i < turns; i++) {
        value = value * 6364136223846793005ULL + 1442695040888963407ULL;
        BARRIER();
    }
    return value;
}

/* The argument's number, or `otherwise` when it is not given. */
static inline double argument(int argc, char **argv, int index,
                              double otherwise)
{
    return argc > index ? strtod(argv[index], NULL) : otherwise;
}

/* rt_sigaction past the C library, whose syscall() jprof interposes; the
 * kernel's structures.  0 or -errno. */
static inline long raw_sigaction(long number, const void *action, void *old)
{
#ifdef __x86_64__
    long result = 13; /* SYS_rt_sigaction */
    register long size __asm__("r10") = 8;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(number), "S"(action), "d"(old), "r"(size)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long call __asm__("x8") = 134; /* SYS_rt_sigaction */
    register long result __asm__("x0") = number;
    register long second __asm__("x1") = (long)action;
    register long third __asm__("x2") = (long)old;
    register long size __asm__("x3") = 8;
    __asm__ volatile("svc 0"
                     : "+r"(result)
                     : "r"(call), "r"(second), "r"(third), "r"(size)
                     : "memory");
    return result;
#endif
}

static inline void die(const char *what)
{
    perror(what);
    exit(2);
}

#endif
