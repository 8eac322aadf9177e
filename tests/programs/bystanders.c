/* SPDX-License-Identifier: MIT
 *
 * Threads in calls that a handler alone may end, while signals come to the
 * process that are no affair of theirs:
 *     bystanders HOW [SECONDS=2]
 * HOW: children (a thread forks; SIGCHLD is left as it is), later (the same,
 * and no child ends before fork has returned), ignored (a child
 * sends signals that do nothing by default, or are ignored), handled (a child
 * sends SIGHUP, for which the first thread, which computes, has a handler
 * without SA_RESTART, and which the kernel gives to it as long as it does not
 * block it).  Prints what went wrong: `recv A epoll B write C of D`, calls
 * that ended early or short, of how many signals or children; and `elsewhere
 * E`, handlers that ran in another thread than the first.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static volatile int stop;
static volatile long bad_recv, bad_epoll, bad_write, elsewhere, handled;
static long sent;
static int ends[2];

static void *receive(void *data)
{
    int pair[2];
    const struct timeval limit = {0, 20000};
    char byte;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) !=
            0)
        die("socketpair");
    while (!stop)
        bad_recv += recv(pair[0], &byte, 1, 0) != -1 || errno != EAGAIN;
    return data;
}

static void *await(void *data)
{
    struct epoll_event event;
    const int fd = epoll_create1(0);
    while (!stop)
        bad_epoll += epoll_wait(fd, &event, 1, 20) != 0;
    return data;
}

static void *put(void *data)
{
    static char bytes[300000];
    while (!stop)
        bad_write +=
            write(ends[1], bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes);
    close(ends[1]);
    return data;
}

static void *take(void *data)
{
    static char bytes[4096];
    while (read(ends[0], bytes, sizeof(bytes)) > 0)
        usleep(50);
    return data;
}

static void handle(int number)
{
    (void)number;
    handled++;
    if (getpid() != (pid_t)syscall(SYS_gettid))
        elsewhere++;
}

static int later;          /* children wait until fork has returned */
static volatile int begun; /* pthread_create blocks all signals for a moment */

static void *fork_on(void *data)
{
    int go[2] = {-1, -1};
    char byte = 0;
    while (!begun)
        usleep(1000);
    while (!stop) {
        if (later && pipe(go) != 0)
            die("pipe");
        const pid_t pid = fork();
        if (pid == 0) {
            turn(20000);
            if (later && read(go[0], &byte, 1) != 1)
                _exit(1);
            _exit(0);
        }
        if (later && write(go[1], &byte, 1) != 1)
            die("write");
        waitpid(pid, NULL, 0);
        if (later) {
            close(go[0]);
            close(go[1]);
        }
        sent++;
    }
    return data;
}

/* A child that sends them as long as it lives, which is as long as we do. */
static pid_t sender(const int *numbers, int count)
{
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    usleep(100000); /* fork may have signals blocked till its end */
    for (int i = 0;; i++) {
        kill(getppid(), numbers[i % count]);
        usleep(300);
    }
}

static void compute(double seconds)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double until =
        (double)end.tv_sec + (double)end.tv_nsec / 1e9 + seconds;
    do {
        turn(2000);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < until);
}

int main(int argc, char **argv)
{
    void *(*bodies[])(void *) = {receive, await, put, take, fork_on};
    static const int nothing[] = {SIGCHLD, SIGURG, SIGWINCH, SIGCONT, SIGUSR2};
    static const int hup[] = {SIGHUP};
    const char *how = argc > 1 ? argv[1] : "children";
    later = strcmp(how, "later") == 0;
    const int forks = later || strcmp(how, "children") == 0;
    const struct sigaction action = {.sa_handler = handle};
    const int threads = forks ? 5 : 4;
    pthread_t ids[5];
    pid_t pid = 0;
    signal(SIGUSR2, SIG_IGN);
    sigaction(SIGHUP, &action, NULL);
    if (pipe(ends) != 0)
        die("pipe");
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, bodies[i], NULL) != 0)
            die("pthread_create");
    }
    begun = 1;
    if (!forks)
        pid = strcmp(how, "ignored") == 0 ? sender(nothing, 5) : sender(hup, 1);
    compute(argument(argc, argv, 2, 2));
    if (pid != 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
    stop = 1;
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    printf("recv %ld epoll %ld write %ld of %ld\nelsewhere %ld\n", bad_recv,
           bad_epoll, bad_write, sent + handled, elsewhere);
    return 0;
}
