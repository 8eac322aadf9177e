/* SPDX-License-Identifier: MIT
 *
 * Calls that wait, one a run:
 *     interrupts CALL|all
 * Each is made three times: to its own end (a time-out, or what another thread
 * does), with a signal of the program's in the middle of it, and with many of
 * them.  Prints what came of each, which must be the same under the library.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <threads.h>

/* How long calls wait, and when the program's signals come: far enough apart
 * for a busy machine. */
#define WAIT_MS 300
#define SIGNAL_MS 50
#define WAIT_NS (WAIT_MS * 1000000L)

static int quiet[2], pair[2], full[2], queue, full_queue, set, listener, poller;
static long ring;
static sem_t semaphore;
static aio_context_t context;
static pthread_t caller;
static _Atomic int handled;
static int signals_due; /* in this round */

/* libaio's, if there is one; the program is not linked with it. */
int io_getevents(aio_context_t, long, long, struct io_event *,
                 struct timespec *) __attribute__((weak));

static void handler(int number)
{
    (void)number;
    handled++;
}

static struct timespec wait_time(void)
{
    return (struct timespec){0, WAIT_NS};
}

static struct timespec wait_until(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += WAIT_NS;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Returned as -1 and errno. */
static long as_errno(int error)
{
    errno = error;
    return error == 0 ? 0 : -1;
}

static long call_poll(void)
{
    struct pollfd one = {quiet[0], POLLIN, 0};
    return poll(&one, 1, WAIT_MS);
}

static long call_ppoll(void)
{
    struct pollfd one = {quiet[0], POLLIN, 0};
    const struct timespec time = wait_time();
    return ppoll(&one, 1, &time, NULL);
}

static sigset_t only_handled(void)
{
    sigset_t mask;
    sigfillset(&mask);
    sigdelset(&mask, SIGUSR2);
    return mask;
}

static long call_ppoll_mask(void)
{
    struct pollfd one = {quiet[0], POLLIN, 0};
    const struct timespec time = wait_time();
    const sigset_t mask = only_handled();
    return ppoll(&one, 1, &time, &mask);
}

static long call_select(void)
{
    fd_set fds;
    struct timeval time = {0, WAIT_MS * 1000};
    FD_ZERO(&fds);
    FD_SET(quiet[0], &fds);
    long result = select(quiet[0] + 1, &fds, NULL, NULL, &time);
    if (result == 0 && (time.tv_sec != 0 || time.tv_usec != 0))
        return -2;
    return result;
}

static long call_pselect(void)
{
    fd_set fds;
    const struct timespec time = wait_time();
    const sigset_t mask = only_handled();
    FD_ZERO(&fds);
    FD_SET(quiet[0], &fds);
    return pselect(quiet[0] + 1, &fds, NULL, NULL, &time, &mask);
}

static long call_epoll(void)
{
    struct epoll_event event;
    return epoll_wait(poller, &event, 1, WAIT_MS);
}

static long call_epoll_p(void)
{
    struct epoll_event event;
    const sigset_t mask = only_handled();
    return epoll_pwait(poller, &event, 1, WAIT_MS, &mask);
}

static long call_epoll_p2(void)
{
    struct epoll_event event;
    const struct timespec time = wait_time();
    return epoll_pwait2(poller, &event, 1, &time, NULL);
}

static long call_nanosleep(void)
{
    const struct timespec time = wait_time();
    struct timespec left = {9, 0};
    long result = nanosleep(&time, &left);
    return result == 0 || left.tv_sec == 0 ? result : -2;
}

static long call_clock_nanosleep(void)
{
    const struct timespec time = wait_time();
    return as_errno(clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL));
}

static long call_clock_nanosleep_until(void)
{
    const struct timespec time = wait_until(CLOCK_REALTIME);
    return as_errno(
        clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL));
}

static long call_usleep(void)
{
    return usleep(WAIT_MS * 1000);
}

static long call_sleep(void)
{
    return sleep(1);
}

static long call_thrd_sleep(void)
{
    const struct timespec time = wait_time();
    return thrd_sleep(&time, NULL);
}

static long call_sem_wait(void)
{
    return sem_wait(&semaphore);
}

static uint32_t word;

static long call_futex(void)
{
    const struct timespec time = wait_time();
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

static long call_futex_until(void)
{
    const struct timespec time = wait_until(CLOCK_MONOTONIC);
    return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &time, NULL,
                   FUTEX_BITSET_MATCH_ANY);
}

static long call_sem_timedwait(void)
{
    const struct timespec time = wait_until(CLOCK_REALTIME);
    return sem_timedwait(&semaphore, &time);
}

static long call_sem_clockwait(void)
{
    const struct timespec time = wait_until(CLOCK_MONOTONIC);
    return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &time);
}

static long call_sigtimedwait(void)
{
    const struct timespec time = wait_time();
    sigset_t hup;
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    return sigtimedwait(&hup, NULL, &time);
}

static long call_sigwaitinfo(void)
{
    sigset_t hup;
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    return sigwaitinfo(&hup, NULL);
}

static long call_pause(void)
{
    return pause();
}

static long call_sigsuspend(void)
{
    const sigset_t mask = only_handled();
    return sigsuspend(&mask);
}

struct message {
    long type;
    char text[512];
};

static long call_msgrcv(void)
{
    struct message message;
    return msgrcv(queue, &message, sizeof(message.text), 0, 0);
}

static long call_msgsnd(void)
{
    struct message message = {.type = 1};
    return msgsnd(full_queue, &message, sizeof(message.text), 0);
}

static long call_semop(void)
{
    struct sembuf down = {0, -1, 0};
    return semop(set, &down, 1);
}

static long call_semtimedop(void)
{
    struct sembuf down = {0, -1, 0};
    const struct timespec time = wait_time();
    return semtimedop(set, &down, 1, &time);
}

static long call_accept(void)
{
    return accept(listener, NULL, NULL);
}

static long call_accept4(void)
{
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC);
}

static long call_recv(void)
{
    char byte;
    return recv(pair[0], &byte, 1, 0);
}

static long call_recvfrom(void)
{
    char byte;
    return recvfrom(pair[0], &byte, 1, 0, NULL, NULL);
}

static long call_recvmsg(void)
{
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return recvmsg(pair[0], &message, 0);
}

static long call_read(void)
{
    char byte;
    return read(pair[0], &byte, 1);
}

static long call_send(void)
{
    char byte = 0;
    return send(full[0], &byte, 1, 0);
}

static long call_sendmsg(void)
{
    char byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return sendmsg(full[0], &message, 0);
}

static long call_connect(void)
{
    struct sockaddr_un address;
    socklen_t length = sizeof(address);
    const struct timeval time = {0, WAIT_MS * 1000};
    getsockname(listener, (struct sockaddr *)&address, &length);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
    long result = connect(fd, (struct sockaddr *)&address, length);
    const int error = errno;
    close(fd);
    errno = error;
    return result;
}

static long call_io_getevents(void)
{
    struct io_event event;
    struct timespec time = wait_time();
    if (io_getevents == NULL)
        return syscall(SYS_io_getevents, context, 1, 1, &event, &time);
    long result = io_getevents(context, 1, 1, &event, &time);
    return result < 0 ? as_errno((int)-result) : result;
}

static long call_aio_suspend(void)
{
    static char byte;
    static struct aiocb request;
    const struct aiocb *const all[] = {&request};
    const struct timespec time = wait_time();
    if (request.aio_buf == NULL) {
        request.aio_fildes = quiet[0];
        request.aio_buf = &byte;
        request.aio_nbytes = 1;
        aio_read(&request);
    }
    return aio_suspend(all, 1, &time);
}

/* With IORING_ENTER_GETEVENTS and _EXT_ARG: the third word is the time-out. */
static long call_io_uring(void)
{
    const struct timespec time = wait_time();
    const uint64_t argument[3] = {0, 0, (uintptr_t)&time};
    return syscall(SYS_io_uring_enter, ring, 0, 1, 1 | 8, argument,
                   sizeof(argument));
}

/* Futexes under a mutex are the C library's business: no EINTR ever. */
static long call_condition(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    const struct timespec time = wait_until(CLOCK_REALTIME);
    int error;
    pthread_mutex_lock(&mutex);
    do
        error = pthread_cond_timedwait(&condition, &mutex, &time);
    while (error == 0);
    pthread_mutex_unlock(&mutex);
    return as_errno(error);
}

/* What another thread does so that the call comes to an end: none has a
 * time-out. */
static void post(void)
{
    sem_post(&semaphore);
}

static void hang_up(void)
{
    pthread_kill(caller, SIGHUP);
}

static void send_message(void)
{
    struct message message = {.type = 1};
    msgsnd(queue, &message, 5, 0);
}

static void receive_message(void)
{
    struct message message;
    msgrcv(full_queue, &message, sizeof(message.text), 0, 0);
}

static void up(void)
{
    struct sembuf one = {0, 1, 0};
    semop(set, &one, 1);
}

static void own_signal(void)
{
    pthread_kill(caller, SIGUSR2);
}

static const struct {
    const char *name;
    long (*call)(void);
    void (*end)(void);
} calls[] = {
    {"poll", call_poll, NULL},
    {"ppoll", call_ppoll, NULL},
    {"ppoll-mask", call_ppoll_mask, NULL},
    {"select", call_select, NULL},
    {"pselect", call_pselect, NULL},
    {"epoll_wait", call_epoll, NULL},
    {"epoll_pwait", call_epoll_p, NULL},
    {"epoll_pwait2", call_epoll_p2, NULL},
    {"nanosleep", call_nanosleep, NULL},
    {"clock_nanosleep", call_clock_nanosleep, NULL},
    {"clock_nanosleep-until", call_clock_nanosleep_until, NULL},
    {"usleep", call_usleep, NULL},
    {"sleep", call_sleep, NULL},
    {"thrd_sleep", call_thrd_sleep, NULL},
    {"sem_wait", call_sem_wait, post},
    {"futex", call_futex, NULL},
    {"futex-until", call_futex_until, NULL},
    {"sem_timedwait", call_sem_timedwait, NULL},
    {"sem_clockwait", call_sem_clockwait, NULL},
    {"sigtimedwait", call_sigtimedwait, NULL},
    {"sigwaitinfo", call_sigwaitinfo, hang_up},
    {"pause", call_pause, own_signal},
    {"sigsuspend", call_sigsuspend, own_signal},
    {"msgrcv", call_msgrcv, send_message},
    {"msgsnd", call_msgsnd, receive_message},
    {"semop", call_semop, up},
    {"semtimedop", call_semtimedop, NULL},
    {"accept", call_accept, NULL},
    {"accept4", call_accept4, NULL},
    {"connect", call_connect, NULL},
    {"recv", call_recv, NULL},
    {"recvfrom", call_recvfrom, NULL},
    {"recvmsg", call_recvmsg, NULL},
    {"read", call_read, NULL},
    {"send", call_send, NULL},
    {"sendmsg", call_sendmsg, NULL},
    {"io_getevents", call_io_getevents, NULL},
    {"condition", call_condition, NULL},
    {"io_uring", call_io_uring, NULL},
    {"aio_suspend", call_aio_suspend, NULL},
};

static void *helper(void *data)
{
    void (*end)(void);
    *(void **)&end = data;
    if (signals_due > 0) {
        usleep(SIGNAL_MS * 1000);
        for (int i = 0; i < signals_due; i++)
            pthread_kill(caller, SIGUSR2);
    } else if (end != NULL) {
        usleep(WAIT_MS * 1000);
        end();
    }
    return NULL;
}

static double now(void)
{
    return cpu_seconds(CLOCK_MONOTONIC);
}

static void run(size_t which, int due)
{
    pthread_t thread;
    void *end;
    *(void (**)(void)) & end = calls[which].end;
    signals_due = due;
    handled = 0;
    pthread_create(&thread, NULL, helper, end);
    const double start = now();
    errno = 0;
    long result = calls[which].call();
    const int error = errno;
    const double spent = now() - start;
    pthread_join(thread, NULL);
    printf("%s %d: %ld %s handled %d time %s\n", calls[which].name, due, result,
           result < 0 ? strerrorname_np(error) : "", handled > 0,
           due > 0                       ? "-"
           : spent * 1000 >= WAIT_MS - 5 ? "kept"
                                         : "short");
}

static void fill(int fd)
{
    static char data[65536];
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (send(fd, data, sizeof(data), 0) > 0)
        continue;
    while (send(fd, data, 1, 0) > 0)
        continue;
    fcntl(fd, F_SETFL, 0);
}

static void make_listener(void)
{
    const struct sockaddr_un any = {.sun_family = AF_UNIX};
    struct sockaddr_un address;
    socklen_t length = sizeof(address);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (const struct sockaddr *)&any, sizeof(sa_family_t));
    listen(listener, 0);
    getsockname(listener, (struct sockaddr *)&address, &length);
}

/* Its backlog full, so that connect waits; then accept has nothing to wait
 * for, and goes before. */
static void fill_listener(void)
{
    struct sockaddr_un address;
    socklen_t length = sizeof(address);
    getsockname(listener, (struct sockaddr *)&address, &length);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(fd, (struct sockaddr *)&address, length);
}

static void set_up(void)
{
    const struct timeval time = {0, WAIT_MS * 1000};
    const struct sigaction action = {.sa_handler = handler};
    struct message message = {.type = 1};
    char parameters[120] = {0}; /* struct io_uring_params */
    sigset_t hup;
    caller = pthread_self();
    sigaction(SIGUSR2, &action, NULL);
    sigemptyset(&hup);
    sigaddset(&hup, SIGHUP);
    sigprocmask(SIG_BLOCK, &hup, NULL);
    queue = msgget(IPC_PRIVATE, 0600);
    full_queue = msgget(IPC_PRIVATE, 0600);
    set = semget(IPC_PRIVATE, 1, 0600);
    poller = epoll_create1(0);
    ring = syscall(SYS_io_uring_setup, 4, parameters); /* may be refused */
    if (pipe(quiet) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, full) != 0 || queue < 0 ||
        full_queue < 0 || set < 0 || poller < 0 ||
        syscall(SYS_io_setup, 4, &context) != 0)
        die("set-up");
    while (msgsnd(full_queue, &message, sizeof(message.text), IPC_NOWAIT) == 0)
        continue;
    sem_init(&semaphore, 0, 0);
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
    fill(full[0]);
    setsockopt(full[0], SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
    make_listener();
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
}

int main(int argc, char **argv)
{
    int found = 0;
    set_up();
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (argc > 1 && strcmp(argv[1], "all") != 0 &&
            strcmp(argv[1], calls[i].name) != 0)
            continue;
        if (strcmp(calls[i].name, "connect") == 0)
            fill_listener();
        found = 1;
        run(i, 0);
        run(i, 1);
        run(i, 20);
    }
    msgctl(queue, IPC_RMID, NULL);
    msgctl(full_queue, IPC_RMID, NULL);
    semctl(set, 0, IPC_RMID);
    return found ? 0 : 64;
}
