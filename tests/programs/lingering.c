/* SPDX-License-Identifier: MIT
 *
 *     lingering [THREADS=8] [CPU_S=0.04] [TAKES=0]
 * Threads that each use CPU_S of CPU time and then wait for good.  The first
 * one awaits that, takes SIGPROF where TAKES is not 0, prints `cpu CPU_SECONDS`
 * of the process, and ends it.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static double seconds;
static sem_t done;

static void nothing(int number)
{
    (void)number;
}

static void *work(void *data)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        turn(100000);
    sem_post(&done);
    for (;;)
        pause();
    return data;
}

int main(int argc, char **argv)
{
    const int count = (int)argument(argc, argv, 1, 8);
    seconds = argument(argc, argv, 2, 0.04);
    sem_init(&done, 0, 0);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) != 0)
            return 1;
    }
    for (int i = 0; i < count; i++) {
        while (sem_wait(&done) != 0)
            continue;
    }
    if (argument(argc, argv, 3, 0) != 0)
        signal(SIGPROF, nothing);
    printf("cpu %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
