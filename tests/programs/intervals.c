/* SPDX-License-Identifier: MIT
 *
 * Asks for and sets the interval timers that a process has, and works:
 *     intervals [SECONDS=0.3]
 * Prints what the program sees of each, which must be the same under the
 * library, and `cpu CPU_SECONDS` until it sets the profiling timer.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

static const struct itimerval none, hundred = {{100, 0}, {100, 0}};

/* The time left goes down; it is one of none, under 100 s, or more. */
static void show(const char *when, int which, const struct itimerval *timer)
{
    printf("%s: timer %d left %s interval %ld.%06ld\n", when, which,
           timer->it_value.tv_sec > 100  ? "more"
           : timer->it_value.tv_sec > 90 ? "100"
           : timer->it_value.tv_sec != 0 || timer->it_value.tv_usec != 0
               ? "some"
               : "none",
           (long)timer->it_interval.tv_sec, (long)timer->it_interval.tv_usec);
}

static void show_all(const char *when)
{
    for (int which = 0; which < 3; which++) {
        struct itimerval timer;
        if (getitimer(which, &timer) != 0)
            die("getitimer");
        show(when, which, &timer);
    }
}

static void set(const char *when, const struct itimerval *timer)
{
    struct itimerval old;
    if (setitimer(ITIMER_PROF, timer, &old) != 0)
        die("setitimer");
    show(when, ITIMER_PROF, &old);
}

static void in_child(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        show_all("child");
        set("child, off", &none);
        fflush(stdout);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        die("fork");
}

int main(int argc, char **argv)
{
    const double until = argument(argc, argv, 1, 0.3);
    setvbuf(stdout, NULL, _IOLBF, 0);
    show_all("start");
    set("off", &none);
    if (setitimer(ITIMER_PROF, &none, NULL) != 0)
        die("setitimer");
    const struct itimerval wrong = {.it_interval = {0, 1000000}};
    printf("wrong: %d\n", setitimer(ITIMER_PROF, &wrong, NULL));
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < until)
        turn(20000);
    show_all("after work");
    in_child();
    const double cpu = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    set("on", &hundred);
    show_all("while on");
    in_child();
    set("off", &none);
    show_all("end");
    printf("cpu %.6f\n", cpu);
    return 0;
}
