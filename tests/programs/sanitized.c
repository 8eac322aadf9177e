/* SPDX-License-Identifier: MIT
 *
 * Built by tests/run/test_sanitizers.py with each sanitizer: threads that
 * compute, allocate and take a mutex, and a handler of the program's.
 * Runs in: tests. */
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define THREADS 4
#define SIGNALS 50

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds;
static volatile sig_atomic_t handled;

static void handle(int signal)
{
    handled += signal == SIGUSR2;
}

/* Uses memory of all kinds, well. */
static NOINLINE uint64_t use(uint64_t value)
{
    char local[256];
    char *heap = malloc(64 + value % 64);
    memset(local, (int)value & 0x7f, sizeof(local));
    memcpy(heap, local, 64);
    value += (uint64_t)heap[value % 64] + turn(5000);
    free(heap);
    return value;
}

static void *compute(void *data)
{
    const double until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.2;
    uint64_t value = 1;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until) {
        value = use(value);
        pthread_mutex_lock(&lock);
        rounds += (value & 1) != 0 ? 1 : 2;
        pthread_mutex_unlock(&lock);
    }
    return data;
}

int main(void)
{
    pthread_t threads[THREADS];
    signal(SIGUSR2, handle);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, compute, NULL);
    for (int i = 0; i < SIGNALS; i++)
        raise(SIGUSR2);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("handled %d rounds %s\n", (int)handled,
           rounds > THREADS ? "many" : "few");
    return 3;
}
