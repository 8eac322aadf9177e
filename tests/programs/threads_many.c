/* SPDX-License-Identifier: MIT
 *
 * Hundreds of threads that live for a short time, eight at once:
 *     threads_many [THREADS=400] [CPU_SECONDS_EACH=0.01]
 * Prints `total CPU_SECONDS`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>

#define AT_ONCE 8

static double seconds;
NOINLINE void *brief(void *unused);

void *brief(void *unused)
{
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        turn(20000);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[AT_ONCE];
    int count = (int)argument(argc, argv, 1, 400);
    seconds = argument(argc, argv, 2, 0.01);
    for (int i = 0; i < count; i++) {
        pthread_t *place = &threads[i % AT_ONCE];
        if (i >= AT_ONCE)
            pthread_join(*place, NULL);
        if (pthread_create(place, NULL, brief, NULL) != 0)
            return 2;
    }
    for (int i = 0; i < count && i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
    printf("total %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
