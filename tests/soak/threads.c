/* SPDX-License-Identifier: MIT
 *
 * The storm: threads that come and go, are cancelled, wait for each other.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "storm.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 4

static void *brief(void *data)
{
    storm_work((unsigned)(uintptr_t)data % 3000);
    return (char *)data + 1;
}

static void churn(struct storm_activity *self)
{
    pthread_t threads[AT_ONCE];
    void *result;
    for (uintptr_t i = 0; i < AT_ONCE; i++)
        STORM_CHECK(self,
                    pthread_create(&threads[i], NULL, brief,
                                   (void *)(self->rounds * 700 + i)) == 0);
    for (uintptr_t i = 0; i < AT_ONCE; i++)
        STORM_CHECK(self, pthread_join(threads[i], &result) == 0 &&
                              (uintptr_t)result == self->rounds * 700 + i + 1);
}

static _Atomic unsigned cleaned;
static sem_t never;
static int silent[2];

static void clean_up(void *data)
{
    (void)data;
    cleaned++;
}

static void *to_be_cancelled(void *data)
{
    char byte;
    pthread_cleanup_push(clean_up, NULL);
    switch ((uintptr_t)data % 4) {
    case 0:
        sem_wait(&never);
        break;
    case 1:
        if (read(silent[0], &byte, 1) != 0)
            usleep(1);
        break;
    case 2:
        sleep(1000);
        break;
    default:
        for (;;) {
            storm_work(10);
            pthread_testcancel();
        }
    }
    pthread_cleanup_pop(0);
    return NULL;
}

static void cancels(struct storm_activity *self)
{
    pthread_t thread;
    void *result = NULL;
    if (self->rounds == 0)
        STORM_CHECK(self, sem_init(&never, 0, 0) == 0 && pipe(silent) == 0);
    const unsigned before = cleaned;
    STORM_CHECK(self, pthread_create(&thread, NULL, to_be_cancelled,
                                     (void *)self->rounds) == 0);
    usleep((useconds_t)(self->rounds % 5) * 300);
    int error; /* the queue of pending signals may be full */
    while ((error = pthread_cancel(thread)) == EAGAIN)
        usleep(1000);
    STORM_CHECK(self, error == 0);
    STORM_CHECK(self, pthread_join(thread, &result) == 0);
    STORM_CHECK(self, result == PTHREAD_CANCELED);
    /* It may not have come so far as to have something to clean up. */
    STORM_CHECK(self, cleaned - before <= 1);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned turn_of;

static void *partner(void *data)
{
    (void)data;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < 50; i++) {
        while (turn_of % 2 == 0)
            pthread_cond_wait(&changed, &lock);
        turn_of++;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void turns(struct storm_activity *self)
{
    pthread_t thread;
    turn_of = 0;
    STORM_CHECK(self, pthread_create(&thread, NULL, partner, NULL) == 0);
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < 50; i++) {
        while (turn_of % 2 != 0)
            pthread_cond_wait(&changed, &lock);
        turn_of++;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    STORM_CHECK(self, pthread_join(thread, NULL) == 0 && turn_of == 100);
}

/* A wait with a limit ends at the limit, not before. */
static void limits(struct storm_activity *self)
{
    struct timespec until, now;
    static sem_t empty;
    if (self->rounds == 0)
        sem_init(&empty, 0, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 3000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    errno = 0;
    STORM_CHECK(self,
                sem_timedwait(&empty, &until) == -1 && errno == ETIMEDOUT);
    clock_gettime(CLOCK_REALTIME, &now);
    STORM_CHECK(self,
                now.tv_sec > until.tv_sec || now.tv_nsec >= until.tv_nsec);
    pthread_mutex_lock(&lock);
    clock_gettime(CLOCK_REALTIME, &until);
    const int result = pthread_mutex_timedlock(&lock, &until);
    pthread_mutex_unlock(&lock);
    STORM_CHECK(self, result == ETIMEDOUT || result == EDEADLK);
}

struct storm_activity storm_threads[] = {
    {"churn", churn, 1000, 0, 0}, {"cancels", cancels, 1000, 0, 0},
    {"turns", turns, 2000, 0, 0}, {"limits", limits, 1000, 0, 0},
    {NULL, NULL, 0, 0, 0},
};
