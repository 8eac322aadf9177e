/* SPDX-License-Identifier: MIT
 *
 * Refers to functions without a version, since it is linked without the C
 * library, as Debian's libprofiler.so.0 is without librt: the loader binds them
 * to the oldest version (glibc, elf/dl-lookup.c), in which a timer is an int.
 * Runs in: tests. */
#include "unversioned.h"

int unversioned_timer(struct sigevent *event, const struct itimerspec *time,
                      int *timer)
{
    if (timer_create(CLOCK_MONOTONIC, event, (timer_t *)(void *)timer) != 0)
        return -1;
    return timer_settime((timer_t)(long)*timer, 0, time, NULL);
}
