/* SPDX-License-Identifier: MIT
 *
 * Forbids itself to read the time stamp counter, by which the vdso tells the
 * time, having computed for 0.1 s before, and goes on:
 *     counterless [WORD...]
 * raw: by syscall().  Computes for 0.3 s, also in a thread and in a child, and
 * sleeps in several ways.  Prints `done`; status 77 when the machine has no
 * such thing.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>

NOINLINE uint64_t behind(uint64_t turns);

uint64_t behind(uint64_t turns)
{
    return turn(turns);
}

/* (The kernel tells a clock of CPU time.) */
static void *compute(void *data)
{
    const double *seconds = data;
    const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + *seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        behind(100000);
    return NULL;
}

static void sleep_in_several_ways(void)
{
    const struct timespec moment = {0, 10000000};
    struct timeval short_time = {0, 10000};
    nanosleep(&moment, NULL);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    usleep(10000);
    poll(NULL, 0, 10);
    select(0, NULL, NULL, NULL, &short_time);
}

int main(int argc, char **argv)
{
    double before = 0.1, after = 0.1;
    pthread_t thread;
    int status;
    compute(&before);
    if ((argc > 1 && strcmp(argv[1], "raw") == 0
             ? syscall(SYS_prctl, PR_SET_TSC, PR_TSC_SIGSEGV, 0L, 0L, 0L)
             : prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0)) != 0)
        return 77;
    compute(&after);
    sleep_in_several_ways();
    if (pthread_create(&thread, NULL, compute, &after) != 0)
        die("pthread_create");
    pthread_join(thread, NULL);
    const pid_t child = fork();
    if (child == 0) {
        compute(&after);
        sleep_in_several_ways();
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        die("child");
    puts("done");
    return 0;
}
