/* SPDX-License-Identifier: MIT
 *
 * A thread uses CPU time deep in its stack, while another takes pages away from
 * the middle of it, which nobody needs just then, and gives them back:
 *     unstack CPU_SECONDS HOW
 *     mprotect  forbids to read them, for 20 ms at a time
 *     mremap    moves others over them that nobody may read
 *     over      maps such over them
 *     syscall   mprotect by syscall()
 *     raw       by an instruction of its own
 *     own       mprotect, with a handler for SIGSEGV, which ends the program
 *               with status 9
 *     race      mprotect, for no time at all
 *     key       by a protection key; ends with status 77 where there is none
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#define DEEP 80
#define UPPER 60 /* the frames between these two are taken away */
#define LOWER 20
#define PAGE 4096UL

static volatile uintptr_t upper, lower;
static volatile int stop;
static char *pages, *elsewhere;
static size_t size;
static int key = -1;

NOINLINE uint64_t sink(int depth);
NOINLINE uint64_t spin(void);

uint64_t spin(void)
{
    uint64_t sum = 0;
    while (!stop)
        sum += turn(20000);
    return sum;
}

uint64_t sink(int depth)
{
    volatile char room[1024];
    room[0] = (char)depth;
    if (depth == UPPER)
        upper = (uintptr_t)room;
    if (depth == LOWER)
        lower = (uintptr_t)room;
    return (depth == 0 ? spin() : sink(depth - 1)) + (uint64_t)room[0];
}

static void *run(void *data)
{
    (void)data;
    sink(DEEP);
    return NULL;
}

static void rest(double seconds)
{
    struct timespec time = {0, (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

static long bare(long number, long a, long b, long c)
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

static void failed(int number)
{
    (void)number;
    _exit(9);
}

static int is(const char *how, const char *word)
{
    return strcmp(how, word) == 0;
}

static void take(const char *how)
{
    const int anywhere = MAP_PRIVATE | MAP_ANONYMOUS;
    memcpy(elsewhere, pages, size);
    /* No hole is left: the next mapping of anybody's might come there. */
    if (is(how, "mremap"))
        mremap(mmap(NULL, size, PROT_NONE, anywhere, -1, 0), size, size,
               MREMAP_MAYMOVE | MREMAP_FIXED, pages);
    else if (is(how, "over"))
        mmap(pages, size, PROT_NONE, MAP_FIXED | anywhere, -1, 0);
    else if (is(how, "syscall"))
        syscall(SYS_mprotect, pages, size, PROT_NONE);
    else if (is(how, "raw"))
        bare(SYS_mprotect, (long)pages, (long)size, PROT_NONE);
    else if (is(how, "key"))
        pkey_mprotect(pages, size, PROT_READ | PROT_WRITE, key);
    else
        mprotect(pages, size, PROT_NONE);
}

static void give(const char *how)
{
    const int rights = PROT_READ | PROT_WRITE;
    if (is(how, "mremap") || is(how, "over")) {
        mprotect(pages, size, rights);
        memcpy(pages, elsewhere, size);
    } else if (is(how, "syscall")) {
        syscall(SYS_mprotect, pages, size, rights);
    } else if (is(how, "raw")) {
        bare(SYS_mprotect, (long)pages, (long)size, rights);
    } else if (is(how, "key")) {
        pkey_mprotect(pages, size, rights, 0);
    } else {
        mprotect(pages, size, rights);
    }
}

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 1, 1);
    const char *how = argc > 2 ? argv[2] : "mprotect";
    pthread_t thread;
    if (is(how, "own"))
        signal(SIGSEGV, failed);
    if (is(how, "key") && (key = pkey_alloc(0, PKEY_DISABLE_ACCESS)) < 0)
        return 77;
    pthread_create(&thread, NULL, run, NULL);
    while (lower == 0)
        rest(0.001);
    pages = (char *)((lower + PAGE - 1) & ~(PAGE - 1));
    size = ((upper - 2048) & ~(PAGE - 1)) - (uintptr_t)pages;
    elsewhere = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    rest(0.1);
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds) {
        take(how);
        if (!is(how, "race"))
            rest(0.02);
        give(how);
        if (!is(how, "race"))
            rest(0.02);
    }
    rest(0.1);
    stop = 1;
    pthread_join(thread, NULL);
    printf("cpu %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
