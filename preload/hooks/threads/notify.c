/* SPDX-License-Identifier: MIT
 *
 * Threads that a timer of the program's starts (SIGEV_THREAD, timer_create(2)).
 * The C library starts them past the pthread_create hook and with all signals
 * blocked, so that jprof would never see them.
 * Runs in: any thread, not in a handler. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "notify.h"
#include "sig/state/process.h"
#include "threads.h"

/* A function that the program wants called, and its argument.  It is never
 * freed, since nothing tells when a timer's last thread has read it; equal ones
 * are kept once. */
struct notification {
    struct notification *next;
    void (*function)(union sigval);
    union sigval value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct notification *notifications;

static void *call(void *data)
{
    const struct notification *notification = data;
    notification->function(notification->value);
    return NULL;
}

static void notified(union sigval value)
{
    jp_threads_run(call, value.sival_ptr);
}

/* The notification for a function and value, made if need be; NULL when there
 * is no memory. */
static struct notification *keep(void (*function)(union sigval),
                                 union sigval value)
{
    struct notification *notification;
    pthread_mutex_lock(&lock);
    for (notification = notifications; notification != NULL;
         notification = notification->next) {
        if (notification->function == function &&
            notification->value.sival_ptr == value.sival_ptr)
            break;
    }
    if (notification == NULL &&
        (notification = malloc(sizeof(*notification))) != NULL) {
        *notification = (struct notification){notifications, function, value};
        notifications = notification;
    }
    pthread_mutex_unlock(&lock);
    return notification;
}

struct sigevent *jp_notify_event(struct sigevent *event, struct sigevent *ours)
{
    if (event->sigev_notify != SIGEV_THREAD)
        return event;
    struct notification *notification =
        keep(event->sigev_notify_function, event->sigev_value);
    if (notification == NULL)
        return event;
    *ours = *event;
    ours->sigev_notify_function = notified;
    ours->sigev_value.sival_ptr = notification;
    return ours;
}
