/* SPDX-License-Identifier: MIT
 *
 * Leaves its own timer's handler by siglongjmp, hundreds of times a second,
 * wherever that comes:
 *     leaper [CPU_SECONDS=1]
 * Prints `cpu CPU_SECONDS leaps NUMBER files OPEN_DESCRIPTORS`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>

static sigjmp_buf back;
static volatile int leaps;

static void leap(int number)
{
    (void)number;
    leaps++;
    siglongjmp(back, 1);
}

static int open_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    return count;
}

int main(int argc, char **argv)
{
    static volatile int started;
    const double seconds = argument(argc, argv, 1, 1);
    const struct sigaction action = {.sa_handler = leap};
    const struct itimerval often = {{0, 2900}, {0, 2900}}, never = {{0}, {0}};
    sigaction(SIGALRM, &action, NULL);
    sigsetjmp(back, 1);
    if (!started) {
        started = 1;
        setitimer(ITIMER_REAL, &often, NULL);
    }
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds)
        turn(1000);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("cpu %.6f leaps %d files %d\n",
           cpu_seconds(CLOCK_PROCESS_CPUTIME_ID), (int)leaps, open_files());
    return 0;
}
