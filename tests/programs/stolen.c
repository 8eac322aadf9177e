/* SPDX-License-Identifier: MIT
 *
 * A signal for the process wakes the main thread in the middle of a receive,
 * and another thread handles it before that runs:
 *     stolen [ROUNDS=40]
 *     stolen ROUNDS theirs
 *     stolen ROUNDS own
 * Both are on one processor, where the main thread takes no one's place.
 * Prints how many receives came back short.  theirs: the signal is the
 * program's, and is to end the main thread's epoll_wait or poll; prints how
 * many it ended, and how many of these took the thread more than 5 ms of CPU
 * time.  own: the signals are the other thread's own, and end nothing.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define HALF 1000

static int channel[2], rounds;

static void *steal_halves(void *unused)
{
    const char data[HALF] = {0};
    for (int i = 0; i < rounds; i++) {
        int left = 1;
        send(channel[1], data, HALF, 0);
        while (ioctl(channel[0], FIONREAD, &left) == 0 && left != 0)
            usleep(1000);
        usleep(1000); /* It waits for the other half by then. */
        kill(getpid(), SIGPROF);
        raise(SIGPROF); /* That one, and the first, in this thread. */
        usleep(1000);
        send(channel[1], data, HALF, 0);
    }
    return unused;
}

static _Atomic int waiting;

static void nothing(int number)
{
    (void)number;
}

/* Whether the main thread waits in the kernel (proc(5), stat: S).  On a busy
 * machine it may not get there for long. */
static int main_waits(void)
{
    char state = 'R';
    FILE *stat = fopen("/proc/self/stat", "re");
    if (stat == NULL || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
        die("/proc/self/stat");
    fclose(stat);
    return state == 'S';
}

static void *steal_theirs(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        while (!waiting)
            usleep(1000);
        waiting = 0;
        do
            usleep(20000);
        while (!main_waits());
        kill(getpid(), SIGUSR2);
        raise(SIGPROF); /* That one, and the first, in this thread. */
    }
    return unused;
}

/* Signals that come to the thread which causes them: of a closed pipe, queued
 * to itself, and of a descriptor that it owns. */
static void *cause_own(void *unused)
{
    const struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    const union sigval value = {0};
    int closed[2], owned[2];
    if (pipe(closed) != 0 || close(closed[0]) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, owned) != 0 ||
        fcntl(owned[0], F_SETOWN_EX, &owner) != 0 ||
        fcntl(owned[0], F_SETSIG, SIGUSR1) != 0 ||
        fcntl(owned[0], F_SETFL, O_ASYNC | O_NONBLOCK) != 0)
        die("cause_own");
    for (;;) {
        char byte = 0;
        usleep(2000);
        if (write(closed[1], &byte, 1) > 0 || write(owned[1], &byte, 1) != 1 ||
            read(owned[0], &byte, 1) != 1)
            die("write");
        pthread_sigqueue(pthread_self(), SIGUSR2, value);
    }
    return unused;
}

static int count_theirs(int wait_ms)
{
    const int poller = epoll_create1(0);
    struct epoll_event event;
    int ended = 0, slow = 0;
    for (int i = 0; i < rounds; i++) {
        const double before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        waiting = 1;
        const int result = i % 2 == 0 ? epoll_wait(poller, &event, 1, wait_ms)
                                      : poll(NULL, 0, wait_ms);
        ended += result < 0 && errno == EINTR;
        slow += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - before > 0.005;
    }
    printf("ended %d slow %d\n", ended, slow);
    return 0;
}

static void share_processor(void *(*steal)(void *))
{
    cpu_set_t one;
    const struct sched_param none = {0};
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        die("sched_setaffinity");
    pthread_t thief;
    if (pthread_create(&thief, NULL, steal, NULL) != 0)
        die("pthread_create");
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
        die("sched_setscheduler");
}

int main(int argc, char **argv)
{
    char data[2 * HALF];
    int count = 0;
    rounds = (int)argument(argc, argv, 1, 40);
    if (argc > 2) {
        const struct sigaction action = {.sa_handler = nothing};
        const int own = strcmp(argv[2], "own") == 0;
        sigaction(SIGPIPE, &action, NULL);
        sigaction(SIGUSR1, &action, NULL);
        sigaction(SIGUSR2, &action, NULL);
        share_processor(own ? cause_own : steal_theirs);
        return count_theirs(own ? 100 : 2000);
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0)
        die("socketpair");
    share_processor(steal_halves);
    for (int i = 0; i < rounds; i++) {
        ssize_t done = recv(channel[0], data, sizeof(data), MSG_WAITALL);
        if (done < 0)
            die("recv");
        count += done < (ssize_t)sizeof(data);
        while (done < (ssize_t)sizeof(data))
            done += recv(channel[0], data, sizeof(data) - (size_t)done, 0);
    }
    printf("short %d\n", count);
    return 0;
}
