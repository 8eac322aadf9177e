/* SPDX-License-Identifier: MIT
 *
 * Threads that wait, of which some end early; then the process ends, or is
 * killed, or executes another program, for which a first attempt fails in the
 * middle.  Prints `total S`, the real time of all its threads.
 *     partings ENDING STAYING SECONDS killed|exit|_exit|exec
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define MOST 512

static double began[MOST], ended[MOST], early_s;
static int pipes[2];

static double now(void)
{
    return cpu_seconds(CLOCK_MONOTONIC);
}

static void nap(double seconds)
{
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (long)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

NOINLINE static void *leave(void *data)
{
    const size_t own = (size_t)data;
    began[own] = now();
    nap(early_s);
    ended[own] = now();
    return NULL;
}

NOINLINE static void *stay(void *data)
{
    char byte;
    began[(size_t)data] = now();
    if (read(pipes[0], &byte, 1) != 1)
        abort();
    return NULL;
}

int main(int argc, char **argv)
{
    const double start = now(), seconds = argument(argc, argv, 3, 4);
    const int ending = (int)argument(argc, argv, 1, 0);
    const int all = ending + (int)argument(argc, argv, 2, 0);
    char *const none[] = {NULL};
    double total;

    if (argc < 5 || all > MOST || pipe(pipes) != 0)
        return 2;
    early_s = seconds / 2;
    for (int i = 0; i < all; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, i < ending ? leave : stay,
                           (void *)(size_t)i) != 0)
            return 2;
        pthread_detach(thread);
    }
    nap(seconds / 2);
    if (strcmp(argv[4], "exec") == 0 && execve("/", argv, none) == 0)
        return 2;
    nap(seconds / 2);
    total = now() - start;
    for (int i = 0; i < all; i++)
        total += (ended[i] > 0 ? ended[i] : now()) - began[i];
    printf("total %.3f\n", total);
    fflush(stdout);
    if (strcmp(argv[4], "killed") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(argv[4], "exec") == 0)
        execve("/bin/true", argv, none);
    if (strcmp(argv[4], "_exit") == 0)
        _exit(0);
    return 0;
}
