/* SPDX-License-Identifier: MIT
 *
 * Threads that a timer starts (SIGEV_THREAD, timer_create(2)): the C library
 * makes them past the pthread_create hook, with every signal blocked, so that
 * no signal would ever find them.
 * Runs in: any thread, not in a handler. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "notify.h"
#include "sig/state/process.h"
#include "threads.h"

/* What the program wants called.  Never freed, since nobody says when the last
 * thread of a timer has read it; the same wish is kept once. */
struct wish {
    struct wish *next;
    void (*function)(union sigval);
    union sigval value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct wish *wishes;

static void *call(void *data)
{
    const struct wish *wish = data;
    wish->function(wish->value);
    return NULL;
}

static void notified(union sigval value)
{
    jp_threads_run(call, value.sival_ptr);
}

/* NULL: no memory. */
static struct wish *keep(void (*function)(union sigval), union sigval value)
{
    struct wish *wish;
    pthread_mutex_lock(&lock);
    for (wish = wishes; wish != NULL; wish = wish->next) {
        if (wish->function == function &&
            wish->value.sival_ptr == value.sival_ptr)
            break;
    }
    if (wish == NULL && (wish = malloc(sizeof(*wish))) != NULL) {
        *wish = (struct wish){wishes, function, value};
        wishes = wish;
    }
    pthread_mutex_unlock(&lock);
    return wish;
}

struct sigevent *jp_notify_event(struct sigevent *event, struct sigevent *ours)
{
    if (event->sigev_notify != SIGEV_THREAD)
        return event;
    struct wish *wish = keep(event->sigev_notify_function, event->sigev_value);
    if (wish == NULL)
        return event;
    *ours = *event;
    ours->sigev_notify_function = notified;
    ours->sigev_value.sival_ptr = wish;
    return ours;
}
