/* SPDX-License-Identifier: MIT
 *
 * What unversioned.so calls for a program.
 * Runs in: tests. */
#ifndef TEST_UNVERSIONED_H
#define TEST_UNVERSIONED_H

#include <signal.h>
#include <time.h>

/* Makes a timer and sets it.  Returns 0, or -1 with errno set. */
int unversioned_timer(struct sigevent *event, const struct itimerspec *time,
                      int *timer);

#endif
