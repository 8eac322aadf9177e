/* SPDX-License-Identifier: MIT
 *
 * Uses CPU time, and counts how often a timer of its own on that time signals:
 *     ownticks [CPU_SECONDS=2] [PERIOD_MS=4]
 * Where others have the CPU at the kernel's ticks, several periods of a timer
 * end in one signal.  Prints `cpu CPU_SECONDS` and `signals N`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>

static volatile sig_atomic_t signals;

static void count(int number)
{
    (void)number;
    signals++;
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = count};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL};
    const double seconds = argument(argc, argv, 1, 2);
    const long period_ns = (long)(argument(argc, argv, 2, 4) * 1e6);
    const struct itimerspec period = {{0, period_ns}, {0, period_ns}};
    timer_t timer;
    event.sigev_signo = SIGRTMAX - 1;
    if (sigaction(event.sigev_signo, &action, NULL) != 0 ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0 ||
        timer_settime(timer, 0, &period, NULL) != 0)
        die("timer");
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds)
        turn(200000);
    printf("cpu %.6f\nsignals %d\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID),
           (int)signals);
    return 0;
}
