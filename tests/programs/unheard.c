/* SPDX-License-Identifier: MIT
 *
 * Threads that end while real-time signals wait in them, each followed by one
 * that has its memory again and gets signals of the same number:
 *     unheard [ROUNDS=30]
 * Prints how many of the latter came, and how many carried something of the
 * former.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#define DEEP 3000 /* sent to a thread that ends after half of them */
#define FEW 20
#define MARK 1000000

static int number;
static sigjmp_buf out;
static volatile sig_atomic_t
    left; /* until the thread leaves; -1: it does not */
static int come, wrong;

static void handler(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    turn(1000);
    if (left > 0 && --left == 0)
        siglongjmp(out, 1);
    if (left < 0) {
        come++;
        wrong += info->si_value.sival_int < MARK;
    }
}

static void queue(int count, int from, sigset_t *set)
{
    pthread_sigmask(SIG_BLOCK, set, NULL);
    for (int i = 0; i < count; i++) {
        const union sigval value = {.sival_int = from + i};
        if (pthread_sigqueue(pthread_self(), number, value) != 0)
            die("pthread_sigqueue");
    }
}

static void *end_early(void *set)
{
    queue(DEEP, 0, set);
    left = DEEP / 2;
    if (sigsetjmp(out, 1) == 0)
        pthread_sigmask(SIG_UNBLOCK, set, NULL);
    return NULL;
}

static void *follow(void *set)
{
    queue(FEW, MARK, set);
    left = -1;
    pthread_sigmask(SIG_UNBLOCK, set, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    const int rounds = (int)argument(argc, argv, 1, 30);
    const struct sigaction action = {.sa_sigaction = handler,
                                     .sa_flags = SA_SIGINFO};
    pthread_t thread;
    sigset_t set;
    number = SIGRTMIN + 3;
    sigaction(number, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, number);
    for (int i = 0; i < 2 * rounds; i++) {
        if (pthread_create(&thread, NULL, i % 2 ? follow : end_early, &set) !=
            0)
            die("pthread_create");
        pthread_join(thread, NULL);
    }
    printf("come %d wrong %d\n", come, wrong);
    return 0;
}
