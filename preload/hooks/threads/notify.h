/* SPDX-License-Identifier: MIT
 *
 * Threads that a timer starts (SIGEV_THREAD).
 * Runs in: any thread, not in a handler. */
#ifndef JP_NOTIFY_H
#define JP_NOTIFY_H

#include <signal.h>

/* What to give to timer_create: the event itself, or `ours`, made from it, for
 * whose threads jprof's own start runs first. */
struct sigevent *jp_notify_event(struct sigevent *event, struct sigevent *ours);

#endif
