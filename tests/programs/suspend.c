/* SPDX-License-Identifier: MIT
 *
 * Threads that stop each other as a garbage collector's do: one sends SIGUSR1
 * to each of the others with tgkill, whose handler says that it is there and
 * waits in sigsuspend, everything blocked, until SIGUSR2 lets it go on.
 *     suspend [ROUNDS=100]
 * The threads have 16 KiB of stack.  Prints the rounds, and the CPU seconds of
 * the others.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#define THREADS 4
#define STACK 16384

static _Atomic int tids[THREADS], over, world_stopped;
static sem_t stopped;
static volatile uint64_t work[THREADS];
static char stacks[THREADS][STACK] __attribute__((aligned(4096)));

static void stop(int number)
{
    sigset_t mask;
    (void)number;
    sigfillset(&mask);
    sigdelset(&mask, SIGUSR2);
    sem_post(&stopped);
    do
        sigsuspend(&mask);
    while (world_stopped);
    sem_post(&stopped);
}

static void go_on(int number)
{
    (void)number;
}

static void *worker(void *data)
{
    const size_t which = (size_t)data;
    tids[which] = (int)syscall(SYS_gettid);
    while (!over) {
        turn(2000);

        work[which]++;
    }
    return data;
}

static void to_all(int number)
{
    for (int i = 0; i < THREADS; i++)
        syscall(SYS_tgkill, getpid(), tids[i], number);
    for (int i = 0; i < THREADS; i++) {
        while (sem_wait(&stopped) != 0)
            continue;
    }
}

int main(int argc, char **argv)
{
    const int rounds = (int)argument(argc, argv, 1, 100);
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_RESTART};
    int moved = 0;
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = go_on;
    sigaction(SIGUSR2, &action, NULL);
    sem_init(&stopped, 0, 0);
    pthread_attr_init(&attributes);
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_attr_setstack(&attributes, stacks[i], STACK) != 0 ||
            pthread_create(&threads[i], &attributes, worker, (void *)i) != 0)
            die("thread");
        while (tids[i] == 0)
            usleep(100);
    }
    for (int round = 0; round < rounds; round++) {
        uint64_t before[THREADS];
        usleep(1000);
        world_stopped = 1;
        to_all(SIGUSR1);
        for (int i = 0; i < THREADS; i++)
            before[i] = work[i];
        turn(20000);
        for (int i = 0; i < THREADS; i++)
            moved |= before[i] != work[i];
        world_stopped = 0;
        to_all(SIGUSR2);
    }
    over = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("rounds %d moved %d\n", rounds, moved);
    return 0;
}
