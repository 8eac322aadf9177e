/* SPDX-License-Identifier: MIT
 *
 * A thread by the raw system call, on the lower half of a mapping; the thread
 * takes the upper half away and goes on with a frame pointer that leads there,
 * as code without frame pointers may have it.
 *     lentstack
 * Prints `bye`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define HALF (1UL << 20)

static char *region;
static volatile int done;

/* Spins for a number of turns with the frame pointer set to `astray`. */
NOINLINE void spin(uint64_t astray, uint64_t turns);

#if defined(__x86_64__)
void spin(uint64_t astray, uint64_t turns)
{
    __asm__ volatile("push %%rbp\n\t"
                     "mov %0, %%rbp\n"
                     "1:\tsub $1, %1\n\t"
                     "jnz 1b\n\t"
                     "pop %%rbp"
                     : "+r"(astray), "+r"(turns)
                     :
                     : "cc", "memory");
}
#else
void spin(uint64_t astray, uint64_t turns)
{
    (void)astray;
    turn(turns);
}
#endif

static int on_lent_stack(void *unused)
{
    (void)unused;
    spin((uint64_t)region + HALF - 64, 1500000000);
    munmap(region + HALF, HALF);
    spin((uint64_t)region + HALF + 4096, 1500000000);
    done = 1;
    syscall(SYS_exit, 0);
    return 0;
}

int main(void)
{
    region = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED)
        die("mmap");
    if (clone(on_lent_stack, region + HALF,
              CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                  CLONE_SYSVSEM,
              NULL) < 0)
        die("clone");
    /* A profile that starts now finds the thread. */
    usleep(50000);
    raise(SIGPROF);
    while (!done)
        usleep(1000);
    puts("bye");
    return 0;
}
