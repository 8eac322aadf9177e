/* SPDX-License-Identifier: MIT
 *
 * Threads that a timer of the program's starts (SIGEV_THREAD, timer_create(2)).
 * Runs in: any thread, not in a handler. */
#ifndef JP_NOTIFY_H
#define JP_NOTIFY_H

#include <signal.h>

/* The event to give to timer_create: `event` itself or, for SIGEV_THREAD,
 * *ours, made from it so that its threads begin as those of pthread_create
 * do. */
struct sigevent *jp_notify_event(struct sigevent *event, struct sigevent *ours);

#endif
