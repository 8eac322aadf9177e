/* SPDX-License-Identifier: MIT
 *
 * Produces samples in 20 distinct stacks of 25 frames: by raising SIGPROF,
 * which jprof samples, or by page faults, which perf samples.
 * Runs in: `make bench`.
 *
 * stacks raise|fault COUNT */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACKS 20
/* Below these: main and what calls it in libc; above: the leaf. */
#define LEVELS 23

static char *page;
static volatile uint64_t work;

static void descend(int level, uint32_t path, int fault);

/* System calls without the C library's frames, which may have no frame
 * pointer: the leaf's caller must be one of ours. */
static long call3(long number, long a, long b, long c)
{
#if defined(__x86_64__)
    long result;

    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c);
#endif
}

__attribute__((noinline)) static void leaf(int fault)
{
    static long pid, tid;

    if (pid == 0) {
        pid = getpid();
        tid = syscall(SYS_gettid);
    }
    if (fault) {
        *(volatile char *)page = 1;
        call3(SYS_madvise, (long)page, 4096, MADV_DONTNEED);
    } else {
        call3(SYS_tgkill, pid, tid, SIGPROF);
    }
    work++;
}

__attribute__((noinline)) static void left(int level, uint32_t path, int fault)
{
    descend(level, path, fault);
    work++;
}

__attribute__((noinline)) static void right(int level, uint32_t path, int fault)
{
    descend(level, path, fault);
    work += 2;
}

/* Each level is one frame, left's or right's: this one is part of both. */
__attribute__((always_inline)) static inline void
descend(int level, uint32_t path, int fault)
{
    if (level == 0)
        leaf(fault);
    else if (path >> level & 1)
        right(level - 1, path, fault);
    else
        left(level - 1, path, fault);
}

int main(int argc, char **argv)
{
    uint32_t paths[STACKS];
    uint32_t random = 1;
    long count = argc == 3 ? atol(argv[2]) : 0;
    int fault = argc == 3 && strcmp(argv[1], "fault") == 0;

    if (count <= 0 || (!fault && strcmp(argv[1], "raise") != 0)) {
        fprintf(stderr, "usage: stacks raise|fault COUNT\n");
        return 64;
    }
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    if (page == MAP_FAILED)
        return 1;
    for (uint32_t i = 0; i < STACKS; i++)
        paths[i] = i * 0x8421U << 1; /* i in every five bits */
    for (long i = 0; i < count; i++) {
        random = random * 1664525U + 1013904223U;
        descend(LEVELS - 1, paths[(random >> 16) % STACKS], fault);
    }
    return 0;
}
