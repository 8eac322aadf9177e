/* SPDX-License-Identifier: MIT
 *
 * Real-time signals that are queued to the first thread, eight at a time, while
 * it computes: each comes, in the order in which it was sent, with what it
 * carries.
 *     queued thread|process|self [SIGNALS=3000]
 * Sent by another thread (pthread_sigqueue), by a child, or by the thread to
 * itself, up to 8,000 while it blocks them, and then the next ones.  Prints how
 * many came, how many of them out of order, and how many with another sender.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* (The kernel looks through all of them for each signal of another number.) */
#define DEEPEST 8000

static int signals, number, from_child;
static pid_t sender;
static pthread_t first;
static _Atomic int sent, come, disordered, wrong;

static void handler(int signal, siginfo_t *info, void *context)
{
    static int last = -1;
    (void)context;
    disordered += info->si_value.sival_int != last + 1;
    last = info->si_value.sival_int;
    wrong += info->si_code != SI_QUEUE || info->si_pid != sender ||
             info->si_signo != signal || info->si_errno != 0;
    come++;
}

static void *send_all(void *unused)
{
    for (int i = 0; i < signals; i++) {
        const union sigval value = {.sival_int = i};
        while ((from_child ? sigqueue(getppid(), number, value) != 0
                           : pthread_sigqueue(first, number, value) != 0))
            usleep(10); /* the queue is full */
        if (i % 8 == 7)
            usleep(50);
    }
    sent = 1;
    return unused;
}

static void send_to_itself(const sigset_t *set, const sigset_t *before)
{
    for (int i = 0; i < signals;) {
        union sigval value = {.sival_int = i};
        pthread_sigmask(SIG_BLOCK, set, NULL);
        for (int n = 0; n < DEEPEST && i < signals &&
                        pthread_sigqueue(first, number, value) == 0;
             n++)
            value.sival_int = ++i;
        pthread_sigmask(SIG_SETMASK, before, NULL);
    }
    sent = 1;
}

int main(int argc, char **argv)
{
    pthread_t other;
    sigset_t set, before;
    const int from_itself = argc > 1 && strcmp(argv[1], "self") == 0;
    from_child = argc > 1 && strcmp(argv[1], "process") == 0;
    signals = (int)argument(argc, argv, 2, 3000);
    number = SIGRTMIN + 3;
    const struct sigaction action = {.sa_sigaction = handler,
                                     .sa_flags = SA_SIGINFO};
    sigaction(number, &action, NULL);
    first = pthread_self();
    sender = getpid();
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    if (from_itself) {
        send_to_itself(&set, &before);
    } else if (from_child) {
        sender = fork();
        if (sender == 0) {
            send_all(NULL);
            _exit(0);
        }
    } else if (pthread_create(&other, NULL, send_all, NULL) != 0) {
        die("pthread_create");
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    while (from_child ? waitpid(sender, NULL, WNOHANG) != sender : !sent)
        turn(1000);
    for (int i = 0; i < 10000 && come < signals; i++)
        turn(1000);
    printf("come %d disordered %d wrong %d\n", come, disordered, wrong);
    return 0;
}
