/* SPDX-License-Identifier: MIT
 *
 * Threads that take turns at a mutex with priority inheritance, while signals
 * come whose handler has no SA_RESTART:
 *     pimutex [SECONDS=1.5]
 * FUTEX_LOCK_PI is made again after any signal; who gets EINTR from it goes on
 * as if the mutex were his.  Prints how often two were inside.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#define THREADS 3

static pthread_mutex_t mutex;
static _Atomic int stop, inside, both;

static void nothing(int signal)
{
    (void)signal;
}

static void *work(void *data)
{
    for (unsigned i = 0; !stop; i++) {
        if (pthread_mutex_lock(&mutex) != 0)
            die("pthread_mutex_lock");
        if (atomic_fetch_add(&inside, 1) != 0)
            both++;
        if (i % 2 != 0)
            usleep(200);
        else
            turn(20000);
        atomic_fetch_sub(&inside, 1);
        pthread_mutex_unlock(&mutex);
    }
    return data;
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = nothing};
    const double seconds = argument(argc, argv, 1, 1.5);
    pthread_mutexattr_t attributes;
    pthread_t threads[THREADS];
    sigaction(SIGUSR2, &action, NULL);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex, &attributes);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            die("pthread_create");
    const double end = cpu_seconds(CLOCK_MONOTONIC) + seconds;
    for (unsigned i = 0; cpu_seconds(CLOCK_MONOTONIC) < end; i++)
        pthread_kill(threads[i % THREADS], SIGUSR2);
    stop = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("both inside %d\n", both);
    return 0;
}
