/* SPDX-License-Identifier: MIT
 *
 * A program with a profiler of its own: a timer sends its thread SIGPROF each
 * 2 ms of real time, and its handler counts.
 *     profiled_twice SECONDS
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>
#include <sys/syscall.h>

static volatile unsigned signals;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info, (void)context;
    signals = signals + 1;
}

int main(int count, char **words)
{
    const double seconds = count > 1 ? atof(words[1]) : 1;
    const struct sigaction action = {.sa_sigaction = on_signal,
                                     .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = SIGPROF};
    const struct itimerspec each = {{0, 2000000}, {0, 2000000}};
    timer_t timer;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    sigaction(SIGPROF, &action, NULL);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0 ||
        timer_settime(timer, 0, &each, NULL) != 0)
        return 1;
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds)
        turn(100000);
    printf("%s\n", signals > 0 ? "some signals" : "none");
    return 0;
}
