/* SPDX-License-Identifier: MIT
 *
 * A library whose constructor begins two threads that compute and share one
 * alternate signal stack.  Its destructor ends them, and prints how often they
 * were told what they had set: three times each.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#define THREADS 2

static char shared[1 << 18];
static pthread_t threads[THREADS];
static sem_t is_set;
static _Atomic int believed, ends;

static void look(const stack_t *wanted)
{
    stack_t mine;
    sigaltstack(wanted, &mine);
    believed += mine.ss_flags == 0 && mine.ss_sp == shared &&
                mine.ss_size == sizeof(shared);
}

static void *share_and_compute(void *unused)
{
    const stack_t mine = {.ss_sp = shared, .ss_size = sizeof(shared)};
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t last = mine;
    sigaltstack(&mine, NULL);
    look(NULL);
    sem_post(&is_set);
    while (!ends)
        turn(20000);
    look(NULL);
    look(&none);
    sigaltstack(NULL, &last);
    if (last.ss_flags != SS_DISABLE)
        believed = -1;
    return unused;
}

__attribute__((constructor)) static void begin(void)
{
    sem_init(&is_set, 0, 0);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, share_and_compute, NULL) != 0)
            die("pthread_create");
        sem_wait(&is_set);
    }
}

__attribute__((destructor)) static void end(void)
{
    ends = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("believed %d\n", believed);
}
