/* SPDX-License-Identifier: MIT
 *
 * Makes a child that shares its memory and folders, with a thread pointer that
 * leads to zeros, which changes the root folder for both: what Chromium does
 * to lock itself up.
 *     nothread [CPU_SECONDS]
 * Works before and after it.  Prints the child's status; 5.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

NOINLINE uint64_t outside(uint64_t turns);
NOINLINE uint64_t inside(uint64_t turns);

uint64_t outside(uint64_t turns)
{
    return turn(turns);
}

uint64_t inside(uint64_t turns)
{
    return turn(turns);
}

static int lock_up(void *data)
{
    return chroot(data);
}

int main(int argc, char **argv)
{
    static char stack[65536] __attribute__((aligned(16)));
    static char zeros[16384] __attribute__((aligned(64)));
    char folder[] = "empty-XXXXXX";
    const double seconds = argument(argc, argv, 1, 0.4);
    int status = -1;
    if (mkdtemp(folder) == NULL)
        die("mkdtemp");
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        outside(200000);
    const int pid =
        clone(lock_up, stack + sizeof(stack),
              CLONE_FS | CLONE_VM | CLONE_VFORK | CLONE_SETTLS | SIGCHLD,
              folder, NULL, zeros + 8192, NULL);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        die("clone");
    printf("status %x, %s\n", (unsigned)status,
           access("/proc", F_OK) == 0 ? "outside" : "inside");
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < 2 * seconds)
        inside(200000);
    return 5;
}
