/* SPDX-License-Identifier: MIT
 *
 * Commands by the API that come while another thread carries one out:
 *     commander [ROUNDS=20 [PAIRS=6]]
 * One thread saves all the time; the main thread pauses and starts PAIRS times
 * a round, by signals to itself: of two that are sent to the process, the other
 * thread may take the first and not run before the second is there.  They are
 * real-time signals, as the launcher's: a SIGPROF that comes while a timer's is
 * pending is lost.  Commands are carried out in the order in which they were
 * given, whoever does it, so there are as many pauses as starts.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <jprof.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

static _Atomic int stop;
static int (*save)(void);

static void *work(void *data)
{
    while (!atomic_load(&stop))
        save();
    return data;
}

static void command(int number)
{
    const union sigval value = {.sival_int = 0x6a700c00 | number};
    if (pthread_sigqueue(pthread_self(), SIGRTMAX, value) != 0)
        die("pthread_sigqueue");
}

int main(int argc, char **argv)
{
    int rounds = (int)argument(argc, argv, 1, 20);
    int pairs = (int)argument(argc, argv, 2, 6);
    pthread_t thread;
    *(void **)&save = dlsym(RTLD_DEFAULT, "jprof_save");
    raise(SIGPROF);
    if (save == NULL || pthread_create(&thread, NULL, work, NULL) != 0)
        return 2;
    for (int i = 0; i < rounds; i++) {
        for (int j = 0; j < pairs; j++) {
            command(2); /* pause */
            command(1); /* start */
        }
        usleep(20000);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    printf("pairs %d\n", rounds * pairs);
    return 0;
}
