/* SPDX-License-Identifier: MIT
 *
 * Waits for SECONDS in each of many calls of the C library, in a function of
 * its own whose name is that of the call behind `in_`:
 *     called SECONDS
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

static struct timespec span; /* how long each call waits */
static int milliseconds, pair[2], epoll, semaphores;
static struct epoll_event event;
static sem_t sem;
static struct sembuf take = {0, -1, 0};
static char bytes[64];
static struct iovec part = {bytes, sizeof(bytes)};
static struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
static sigset_t waited_for;
static siginfo_t info;
static struct rusage usage;

/* The moment that is one span from now. */
static const struct timespec *until(clockid_t clock)
{
    static struct timespec moment;
    clock_gettime(clock, &moment);
    moment.tv_sec += span.tv_sec;
    moment.tv_nsec += span.tv_nsec;
    if (moment.tv_nsec >= 1000000000) {
        moment.tv_sec++;
        moment.tv_nsec -= 1000000000;
    }
    return &moment;
}

static struct timeval *as_timeval(void)
{
    static struct timeval time;
    time = (struct timeval){span.tv_sec, span.tv_nsec / 1000};
    return &time;
}

/* A child that ends after a span. */
static void child(void)
{
    if (fork() == 0) {
        nanosleep(&span, NULL);
        _exit(0);
    }
}

/* A function that makes one call; not the last thing that it does, so that it
 * stays on the stack. */
#define WAIT(name, arguments)                                                  \
    NOINLINE static void in_##name(void)                                       \
    {                                                                          \
        (void)!name arguments;                                                 \
        BARRIER();                                                             \
    }
#define WAITS(make)                                                            \
    make(nanosleep, (&span, NULL)) make(clock_nanosleep,                       \
                                        (CLOCK_MONOTONIC, 0, &span, NULL))     \
        make(usleep, ((useconds_t)milliseconds * 1000)) make(                  \
            poll, (NULL, 0, milliseconds)) make(ppoll, (NULL, 0, &span, NULL)) \
            make(select, (0, NULL, NULL, NULL, as_timeval())) make(            \
                pselect, (0, NULL, NULL, NULL, &span, NULL))                   \
                make(epoll_wait, (epoll, &event, 1, milliseconds)) make(       \
                    epoll_pwait, (epoll, &event, 1, milliseconds, NULL))       \
                    make(sem_timedwait, (&sem, until(CLOCK_REALTIME)))         \
                        make(semtimedop, (semaphores, &take, 1, &span)) make(  \
                            sigtimedwait, (&waited_for, &info, &span))         \
                            make(recv, (pair[0], bytes, sizeof(bytes), 0))     \
                                make(recvfrom, (pair[0], bytes, sizeof(bytes), \
                                                0, NULL, NULL))                \
                                    make(recvmsg, (pair[0], &message, 0))      \
                                        make(read,                             \
                                             (pair[0], bytes, sizeof(bytes)))  \
                                            make(readv, (pair[0], &part, 1))
#define CHILDREN(make)                                                         \
    make(wait, (NULL)) make(waitpid, (-1, NULL, 0))                            \
        make(wait3, (NULL, 0, NULL)) make(wait4, (-1, NULL, 0, &usage))        \
            make(waitid, (P_ALL, 0, &info, WEXITED))

WAITS(WAIT)
CHILDREN(WAIT)

#define MAKE(name, arguments) in_##name();
#define MAKE_WITH_CHILD(name, arguments)                                       \
    child();                                                                   \
    in_##name();

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 1, 0.2);
    span = (struct timespec){(time_t)seconds,
                             (long)((seconds - (double)(time_t)seconds) * 1e9)};
    milliseconds = (int)(seconds * 1000);
    epoll = epoll_create1(0);
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    sem_init(&sem, 0, 0);
    sigemptyset(&waited_for);
    sigaddset(&waited_for, SIGUSR2);
    sigprocmask(SIG_BLOCK, &waited_for, NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, as_timeval(),
                   sizeof(struct timeval)) != 0)
        die("socketpair");
    WAITS(MAKE)
    CHILDREN(MAKE_WITH_CHILD)
    if (semctl(semaphores, 0, IPC_RMID) != 0)
        die("semctl");
    return 0;
}
