/* SPDX-License-Identifier: MIT
 *
 * Works CPU_SECONDS in another thread than its first, and becomes PROGRAM:
 *     ancestor CPU_SECONDS PROGRAM [ARGUMENT...]
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>

static void *work(void *data)
{
    const double seconds = *(const double *)data;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        turn(200000);
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = argument(argc, argv, 1, 0);
    pthread_t thread;
    if (argc < 3)
        return 2;
    if (pthread_create(&thread, NULL, work, &seconds) != 0)
        die("pthread_create");
    pthread_join(thread, NULL);
    execv(argv[2], argv + 2);
    die("execv");
}
