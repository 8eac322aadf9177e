/* SPDX-License-Identifier: MIT
 *
 * A thread that no pthread_create hook sees: made by the C11 interface, which
 * calls glibc's own thread creation directly.
 *     rawclone [CPU_SECONDS=1] [CPU_SECONDS_OF_THE_MAIN_THREAD=0]
 * Prints `thread TID CPU_SECONDS`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <sys/syscall.h>
#include <threads.h>

static double seconds;
NOINLINE int unseen(void *unused);

int unseen(void *unused)
{
    (void)unused;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        turn(200000);
    printf("thread %d %.6f\n", (int)syscall(SYS_gettid),
           cpu_seconds(CLOCK_THREAD_CPUTIME_ID));
    return 0;
}

int main(int argc, char **argv)
{
    thrd_t thread;
    seconds = argument(argc, argv, 1, 1);
    if (thrd_create(&thread, unseen, NULL) != thrd_success)
        return 2;
    const double own = argument(argc, argv, 2, 0);
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < own)
        turn(200000);
    thrd_join(thread, NULL);
    return 0;
}
