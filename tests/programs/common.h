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
#include <sys/syscall.h>
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

/* A system call past the C library, whose syscall() jprof interposes.  Its
 * result, or -errno. */
static inline long raw_call(long number, long first, const void *second,
                            void *third, long fourth)
{
#ifdef __x86_64__
    long result = number;
    register long last __asm__("r10") = fourth;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(first), "S"(second), "d"(third), "r"(last)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long call __asm__("x8") = number;
    register long result __asm__("x0") = first;
    register long next __asm__("x1") = (long)second;
    register long then __asm__("x2") = (long)third;
    register long last __asm__("x3") = fourth;
    __asm__ volatile("svc 0"
                     : "+r"(result)
                     : "r"(call), "r"(next), "r"(then), "r"(last)
                     : "memory");
    return result;
#endif
}

/* rt_sigaction that way; the kernel's structures. */
static inline long raw_sigaction(long number, const void *action, void *old)
{
    return raw_call(SYS_rt_sigaction, number, action, old, 8);
}

static inline void die(const char *what)
{
    perror(what);
    exit(2);
}

#endif
