/* SPDX-License-Identifier: MIT
 *
 * A thread that waits for the main thread's byte, works, and waits again:
 *     phases [ROUNDS=2] [WAIT_SECONDS=1.5] [CPU_SECONDS=0.4] [NAP=0]
 * Before it works it naps for NAP seconds, so that it has blocked twice.
 * Prints `thread TID waited SECONDS worked CPU_SECONDS`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <sys/syscall.h>

static double wait_seconds, work_seconds, nap_seconds;
static int rounds;
static int ends[2];

NOINLINE void wait_for_byte(void);
NOINLINE void work_on(void);

void wait_for_byte(void)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        die("read");
    BARRIER();
}

void work_on(void)
{
    const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + work_seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        turn(20000);
}

static void *worker(void *data)
{
    double waited = 0;
    for (int i = 0; i < rounds; i++) {
        const double start = cpu_seconds(CLOCK_MONOTONIC);
        wait_for_byte();
        if (nap_seconds > 0)
            usleep((useconds_t)(nap_seconds * 1e6));
        waited += cpu_seconds(CLOCK_MONOTONIC) - start;
        work_on();
    }
    printf("thread %d waited %.6f worked %.6f\n", (int)syscall(SYS_gettid),
           waited, cpu_seconds(CLOCK_THREAD_CPUTIME_ID));
    return data;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    rounds = (int)argument(argc, argv, 1, 2);
    wait_seconds = argument(argc, argv, 2, 1.5);
    work_seconds = argument(argc, argv, 3, 0.4);
    nap_seconds = argument(argc, argv, 4, 0);
    if (pipe(ends) != 0 || pthread_create(&thread, NULL, worker, NULL) != 0)
        die("phases");
    for (int i = 0; i < rounds; i++) {
        const double end = cpu_seconds(CLOCK_MONOTONIC) + wait_seconds +
                           (i != 0 ? work_seconds : 0);
        while (cpu_seconds(CLOCK_MONOTONIC) < end)
            usleep(10000);
        if (write(ends[1], "x", 1) != 1)
            die("write");
    }
    pthread_join(thread, NULL);
    return 0;
}
