/* SPDX-License-Identifier: MIT
 *
 * A thread that calls itself name-0, name-1... for 0.4 s of CPU time each:
 *     renames [COUNT=4]
 * Prints `thread TID`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int count;

static void *work(void *data)
{
    char name[16];
    printf("thread %d\n", (int)syscall(SYS_gettid));
    for (int i = 0; i < count; i++) {
        const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.4;
        snprintf(name, sizeof(name), "name-%d", i);
        if (i % 2 == 0)
            prctl(PR_SET_NAME, name);
        else
            pthread_setname_np(pthread_self(), name);
        while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
            turn(100000);
    }
    return data;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    count = (int)argument(argc, argv, 1, 4);
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        die("pthread_create");
    pthread_join(thread, NULL);
    return 0;
}
