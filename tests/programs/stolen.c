/* SPDX-License-Identifier: MIT
 *
 * A signal for the process wakes the main thread in the middle of a receive,
 * and another thread handles it before that runs:
 *     stolen [ROUNDS=40]
 *     stolen ROUNDS theirs
 *     stolen ROUNDS own
 *     stolen ROUNDS cut|kept
 *     stolen ROUNDS cancelled
 * Both are on one processor, where the main thread takes no one's place.
 * Prints how many receives came back short.  theirs: the signal is the
 * program's, and is to end the main thread's epoll_wait or poll; prints how
 * many it ended, and how many calls took the thread more than 5 ms of CPU time.
 * own: the signals are the other thread's own, and end nothing.  cut: as
 * theirs, of read, waitpid and accept, which SA_RESTART makes again; the
 * handler is without it.  kept: the handler is with it, and ends none.
 * cancelled: the main thread is cancelled in read, and waits for a lock that
 * the other one holds; prints whether it had it too early.
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
#include <sys/un.h>
#include <sys/wait.h>

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

static int quiet[2], listening, poller;
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static pid_t child;
static _Atomic int passed; /* calls that are over */

/* A child that waits to be killed. */
static pid_t begin_child(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        for (;;)
            pause();
    }
    return pid;
}

/* Another thread wants to end the main thread's calls, by turns. */
struct victim {
    int (*call)(int number); /* returns 1 if a signal ended it */
    void (*release)(int number);
    int looks; /* how often it may be seen to wait on after the signal */
};

static int call_waiting(int number)
{
    struct epoll_event event;
    struct pollfd one = {quiet[0], POLLIN, 0};
    char byte;
    const int result =
        number % 2 == 0 ? epoll_wait(poller, &event, 1, -1) : poll(&one, 1, -1);
    const int ended = result < 0 && errno == EINTR;
    if (result > 0 && read(quiet[0], &byte, 1) != 1)
        die("read");
    return ended;
}

static void release_waiting(int number)
{
    (void)number;
    if (write(quiet[1], "x", 1) != 1)
        die("write");
}

static int call_restarted(int number)
{
    char byte;
    long result = 0;
    if (number % 3 == 0)
        result = read(quiet[0], &byte, 1);
    else if (number % 3 == 1 && (result = waitpid(child, NULL, 0)) == child)
        child = begin_child();
    else if (number % 3 == 2 && (result = accept(listening, NULL, NULL)) >= 0)
        close((int)result);
    return result < 0 && errno == EINTR;
}

static void release_restarted(int number)
{
    const int caller = socket(AF_UNIX, SOCK_STREAM, 0);
    if (number % 3 == 0)
        release_waiting(number);
    if (number % 3 == 1 && kill(child, SIGKILL) != 0)
        die("kill");
    if (number % 3 == 2 &&
        connect(caller, (struct sockaddr *)&address, sizeof(address)) != 0)
        die("connect");
    close(caller);
}

/* A call that is over is not seen to wait, however long the main thread has no
 * CPU. */
static void *steal_theirs(void *data)
{
    const struct victim *victim = data;
    for (int i = 0; i < rounds; i++) {
        int looks = victim->looks;
        while (!waiting)
            usleep(1000);
        waiting = 0;
        do
            usleep(20000);
        while (!main_waits());
        kill(getpid(), SIGUSR2);
        raise(SIGPROF); /* That one, and the first, in this thread. */
        while (passed == i && looks > 0) {
            usleep(1000);
            looks -= main_waits();
        }
        if (passed == i)
            victim->release(i);
        while (passed == i)
            usleep(1000);
    }
    return NULL;
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

/* Calls of 100 ms that nothing is to end. */
static int count_own(void)
{
    struct epoll_event event;
    int ended = 0;
    for (int i = 0; i < rounds; i++)
        ended += (i % 2 == 0 ? epoll_wait(poller, &event, 1, 100)
                             : poll(NULL, 0, 100)) < 0;
    printf("ended %d\n", ended);
    return 0;
}

static int count_theirs(const struct victim *victim)
{
    int ended = 0, slow = 0;
    while (passed < rounds) {
        const double before = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        waiting = 1;
        ended += victim->call(passed);
        slow += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - before > 0.005;
        passed++;
    }
    kill(child, SIGKILL);
    printf("ended %d slow %d\n", ended, slow);
    return 0;
}

static void share_processor(void *(*steal)(void *), const void *data)
{
    cpu_set_t one;
    const struct sched_param none = {0};
    CPU_ZERO(&one);
    CPU_SET((unsigned)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0)
        die("sched_setaffinity");
    pthread_t thief;
    if (pthread_create(&thief, NULL, steal, (void *)data) != 0)
        die("pthread_create");
    if (sched_setscheduler(0, SCHED_IDLE, &none) != 0)
        die("sched_setscheduler");
}

static pthread_mutex_t mutex;
static _Atomic int held, early;

static void take_mutex(void *unused)
{
    (void)unused;
    waiting = 1;
    pthread_mutex_lock(&mutex);
    early = held;
    printf("early %d\n", early);
    exit(0);
}

static void *steal_cancelled(void *data)
{
    pthread_mutex_lock(&mutex);
    held = 1;
    do
        usleep(20000);
    while (!main_waits());
    pthread_cancel(*(pthread_t *)data);
    while (!waiting)
        usleep(1000);
    for (int i = 0; i < rounds; i++) {
        do
            usleep(1000);
        while (!main_waits());
        kill(getpid(), SIGUSR2);
        raise(SIGPROF); /* That one, and the first, in this thread. */
    }
    usleep(20000);
    held = 0;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* The main thread waits for a lock that inherits priorities: a system call that
 * the C library does not expect to be interrupted. */
static int cancelled(void)
{
    static pthread_t self;
    pthread_mutexattr_t attributes;
    char byte;
    self = pthread_self();
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (pthread_mutex_init(&mutex, &attributes) != 0)
        die("pthread_mutex_init");
    share_processor(steal_cancelled, &self);
    pthread_cleanup_push(take_mutex, NULL);
    while (read(quiet[0], &byte, 1) != 1)
        continue;
    pthread_cleanup_pop(0);
    return 1;
}

static int theirs(const char *name)
{
    static struct victim victim = {call_waiting, release_waiting, 100};
    struct epoll_event event = {.events = EPOLLIN};
    struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGPIPE, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    if (strcmp(name, "kept") == 0) {
        action.sa_flags = SA_RESTART;
        victim.looks = 10;
    }
    if (strcmp(name, "theirs") != 0) {
        victim.call = call_restarted;
        victim.release = release_restarted;
    }
    poller = epoll_create1(0);
    listening = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "stolen %d",
             (int)getpid()); /* abstract: unix(7) */
    if (pipe(quiet) != 0 ||
        epoll_ctl(poller, EPOLL_CTL_ADD, quiet[0], &event) != 0 ||
        bind(listening, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listening, 1) != 0)
        die("theirs");
    child = begin_child();
    sigaction(SIGUSR2, &action, NULL);
    if (strcmp(name, "cancelled") == 0) {
        kill(child, SIGKILL);
        return cancelled();
    }
    if (strcmp(name, "own") == 0) {
        share_processor(cause_own, NULL);
        count_own();
        return kill(child, SIGKILL);
    }
    share_processor(steal_theirs, &victim);
    return count_theirs(&victim);
}

int main(int argc, char **argv)
{
    char data[2 * HALF];
    int count = 0;
    rounds = (int)argument(argc, argv, 1, 40);
    if (argc > 2)
        return theirs(argv[2]);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, channel) != 0)
        die("socketpair");
    share_processor(steal_halves, NULL);
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
