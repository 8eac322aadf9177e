/* SPDX-License-Identifier: MIT
 *
 * Fails to exec, time and again, while another thread sends this one SIGNALS
 * signals of a number, one each 50 us:
 *     besieged [SIGNALS=2000] [SIGNAL=14 (SIGALRM)]
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static pthread_t besieged;
static int signals, number;
static _Atomic int goes_on = 1;

static void *besiege(void *data)
{
    const struct timespec apart = {0, 50000};
    for (int i = 0; i < signals; i++) {
        if (pthread_kill(besieged, number) != 0)
            die("pthread_kill");
        nanosleep(&apart, NULL);
    }
    atomic_store(&goes_on, 0);
    return data;
}

int main(int argc, char **argv)
{
    char *nothing[] = {"nothing", NULL};
    pthread_t thread;
    signals = (int)argument(argc, argv, 1, 2000);
    number = (int)argument(argc, argv, 2, SIGALRM);
    besieged = pthread_self();
    if (pthread_create(&thread, NULL, besiege, NULL) != 0)
        die("pthread_create");
    while (atomic_load(&goes_on))
        execv("/nonexistent/nothing", nothing);
    pthread_join(thread, NULL);
    return 0;
}
