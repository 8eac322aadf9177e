/* SPDX-License-Identifier: MIT
 *
 * A server as there were many: processes that signal each other with SIGUSR1,
 * round in a ring, and wait with an alarm in case nobody does.
 *     neighbours [ROUNDS=200]
 * Prints how many signals each had, and how many alarms, and how they ended.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define PROCESSES 3

struct shared {
    _Atomic int pids[PROCESSES], ready;
};

static volatile sig_atomic_t called, alarmed;

static void on_signal(int number)
{
    if (number == SIGALRM)
        alarmed++;
    else
        called++;
}

/* Works a little when it is its turn, and passes it on. */
static int serve(struct shared *shared, int which, int rounds)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t both, before;
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGALRM);
    sigprocmask(SIG_BLOCK, &both, &before);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    shared->pids[which] = getpid();
    shared->ready++;
    while (shared->ready < PROCESSES)
        usleep(1000);
    if (which == 0)
        kill(getpid(), SIGUSR1);
    for (int i = 1; i <= rounds; i++) {
        alarm(60);
        while (called < i && !alarmed)
            sigsuspend(&before);
        alarm(0);
        turn(100000);
        if (i < rounds || which + 1 < PROCESSES)
            kill(shared->pids[(which + 1) % PROCESSES], SIGUSR1);
    }
    /* Nobody calls any more. */
    alarm(1);
    while (!alarmed)
        sigsuspend(&before);
    return called == rounds && alarmed == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const int rounds = (int)argument(argc, argv, 1, 200);
    struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status;
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0)
            _exit(serve(shared, i, rounds));
    }
    for (int i = 0; i < PROCESSES; i++) {
        while (wait(&status) < 0)
            continue;
        printf("%d\n", status);
    }
    return 0;
}
