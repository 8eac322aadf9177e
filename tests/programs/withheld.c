/* SPDX-License-Identifier: MIT
 *
 * A thread that keeps signals back, past the C library, until it ends:
 *     withheld exit|_exit|thread SECONDS_BEFORE SECONDS_AFTER
 * Computes for so long before and after the signals are blocked.  Prints `cpu
 * SECONDS`, the thread's.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <string.h>

static double before, after;

NOINLINE void compute(double until);
NOINLINE void *keep_back(void *unused);

void compute(double until)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        turn(20000);
}

void *keep_back(void *unused)
{
    uint64_t all = ~(uint64_t)0;
    compute(before);
    if (raw_call(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, &all, NULL, 8) != 0)
        exit(2);
    compute(before + after);
    printf("cpu %.6f\n", cpu_seconds(CLOCK_THREAD_CPUTIME_ID));
    fflush(stdout);
    return unused;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "exit";
    pthread_t thread;
    before = argument(argc, argv, 2, 0.1);
    after = argument(argc, argv, 3, 0.2);
    if (strcmp(how, "thread") != 0)
        keep_back(NULL);
    else if (pthread_create(&thread, NULL, keep_back, NULL) != 0 ||
             pthread_join(thread, NULL) != 0)
        return 2;
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    return 0;
}
