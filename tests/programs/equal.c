/* SPDX-License-Identifier: MIT
 *
 * Equal work done by one thread and by several at once, each part measured by
 * the threads' CPU clocks:
 *     equal SECONDS THREADS
 * `serial` computes for SECONDS of CPU time in the first thread; `parallel`
 * computes for SECONDS in all in THREADS threads at once.  It prints the CPU
 * time of each in ms.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>

#define THREADS_MAX 64

static double each;

NOINLINE double serial(double seconds);
NOINLINE double parallel(double seconds);

/* Computes for so much CPU time of the thread.  Returns what it used. */
static inline __attribute__((always_inline)) double compute(double seconds)
{
    double now = 0;
    const double begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    while ((now = cpu_seconds(CLOCK_THREAD_CPUTIME_ID)) < begin + seconds)
        turn(2000);
    return now - begin;
}

NOINLINE double serial(double seconds)
{
    return compute(seconds);
}

NOINLINE double parallel(double seconds)
{
    return compute(seconds);
}

static void *run(void *data)
{
    *(double *)data = parallel(each);
    return NULL;
}

int main(int count, char **words)
{
    const double seconds = argument(count, words, 1, 1);
    const unsigned threads =
        (unsigned)argument(count, words, 2, 8) % (THREADS_MAX + 1);
    pthread_t ids[THREADS_MAX];
    double used[THREADS_MAX], sum = 0;
    each = seconds / (threads != 0 ? threads : 1);
    const double first = serial(seconds);
    for (unsigned i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, run, &used[i]);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        sum += used[i];
    }
    printf("serial %.6f\nparallel %.6f\n", first * 1e3, sum * 1e3);
    return 0;
}
