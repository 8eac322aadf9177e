/* SPDX-License-Identifier: MIT
 *
 * Prints how long after the time for which it is set a timer's signal finds a
 * thread that computes: the median of 300 timers, in ns.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>

#define TIMERS 300
#define AHEAD_NS 300000L

static volatile sig_atomic_t came;
static volatile int64_t now;

static int64_t monotonic_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void on_signal(int number)
{
    (void)number;
    now = monotonic_ns();
    came = 1;
}

static int compare(const void *one, const void *other)
{
    const int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

int main(void)
{
    const struct itimerspec when = {{0, 0}, {0, AHEAD_NS}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGUSR1};
    int64_t delays[TIMERS];
    timer_t timer;
    signal(SIGUSR1, on_signal);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return 1;
    for (unsigned i = 0; i < TIMERS; i++) {
        const int64_t begin = monotonic_ns();
        came = 0;
        timer_settime(timer, 0, &when, NULL);
        while (!came)
            turn(10);
        delays[i] = now - begin - AHEAD_NS;
    }
    qsort(delays, TIMERS, sizeof(delays[0]), compare);
    printf("%lld\n", (long long)delays[TIMERS / 2]);
    return 0;
}
