/* SPDX-License-Identifier: MIT
 *
 * The storm: signals.  Each activity has signals of its own, which it sends to
 * its own thread, or to the process while all others block them.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "storm.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define QUEUED (SIGRTMIN + 1)  /* to the process, with values */
#define PENDED (SIGRTMIN + 2)  /* blocked, then waited for */
#define TIMED (SIGRTMIN + 3)   /* of a timer */
#define READ (SIGRTMIN + 4)    /* by a signalfd */
#define FLOODED (SIGRTMIN + 5) /* to the process, whichever thread gets it */
#define JUMPED SIGHUP          /* its handler jumps away */
#define KILLED SIGWINCH        /* pthread_kill, a standard signal */
#define ALARMED SIGALRM
#define BATCH 20
#define FLOOD 300
#define FLOOD_THREADS 4

static _Atomic unsigned long queued_count, queued_sum, timed_count, killed,
    alarms, flooded_count, flooded_sum;
static _Atomic int off_stack;
static sigjmp_buf jump;

static void on_queued(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    queued_count++;
    queued_sum += (unsigned long)info->si_value.sival_int;
}

static void on_flooded(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    flooded_count++;
    flooded_sum += (unsigned long)info->si_value.sival_int;
}

static void on_timed(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    timed_count += 1 + (unsigned long)info->si_overrun;
}

static void on_jumped(int signal)
{
    stack_t stack;
    (void)signal;
    if (sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_ONSTACK) == 0)
        off_stack++;
    siglongjmp(jump, 7);
}

static void on_killed(int signal)
{
    (void)signal;
    killed++;
}

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static void handle(int signal, void *handler, int flags)
{
    struct sigaction action = {.sa_flags = flags | SA_RESTART};
    sigemptyset(&action.sa_mask);
    *(void **)&action.sa_sigaction = handler;
    if (sigaction(signal, &action, NULL) != 0)
        abort();
}

void storm_signals_init(void)
{
    sigset_t set;
    handle(QUEUED, (void *)on_queued, SA_SIGINFO);
    handle(FLOODED, (void *)on_flooded, SA_SIGINFO);
    handle(TIMED, (void *)on_timed, SA_SIGINFO);
    handle(JUMPED, (void *)on_jumped, SA_ONSTACK);
    handle(KILLED, (void *)on_killed, 0);
    handle(ALARMED, (void *)on_alarm, 0);
    sigemptyset(&set);
    sigaddset(&set, QUEUED);
    sigaddset(&set, PENDED);
    sigaddset(&set, READ);
    sigaddset(&set, FLOODED);
    sigaddset(&set, ALARMED);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Sends the calling thread a signal.  The queue of pending signals is all the
 * user's, whose other processes may fill it for a moment. */
static int send_self(int signal, int value)
{
    int error;
    while ((error = pthread_sigqueue(pthread_self(), signal,
                                     (union sigval){.sival_int = value})) ==
               EAGAIN &&
           !storm_is_over())
        usleep(1000);
    return error;
}

static void unblock(int how, int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(how, &set, NULL);
}

/* A batch comes whole, with its values, before the call that unblocks it
 * returns. */
static void queues(struct storm_activity *self)
{
    const unsigned long count = queued_count, sum = queued_sum;
    unsigned long sent = 0, values = 0;
    for (int i = 0; i < BATCH; i++) {
        if (sigqueue(getpid(), QUEUED, (union sigval){.sival_int = i}) == 0) {
            sent++;
            values += (unsigned long)i;
        } else {
            STORM_CHECK(self, errno == EAGAIN);
        }
    }
    STORM_CHECK(self, queued_count == count);
    unblock(SIG_UNBLOCK, QUEUED);
    STORM_CHECK(self, queued_count == count + sent);
    STORM_CHECK(self, queued_sum == sum + values);
    for (int i = 0; i < BATCH; i++) {
        const unsigned long before = queued_count;
        if (sigqueue(getpid(), QUEUED, (union sigval){.sival_int = 0}) == 0)
            STORM_CHECK(self, queued_count == before + 1);
    }
    unblock(SIG_BLOCK, QUEUED);
}

static void *flooded(void *data)
{
    unblock(SIG_UNBLOCK, FLOODED);
    storm_work((unsigned)(uintptr_t)data);
    return NULL;
}

/* Signals to the process come to threads that begin, work and end meanwhile.
 * None is lost, whoever of them gets it. */
static void floods(struct storm_activity *self)
{
    pthread_t threads[FLOOD_THREADS];
    unsigned long sent = 0, values = 0;
    const unsigned long count = flooded_count, sum = flooded_sum;
    for (uintptr_t i = 0; i < FLOOD_THREADS; i++)
        STORM_CHECK(self, pthread_create(&threads[i], NULL, flooded,
                                         (void *)(300 + 400 * i)) == 0);
    for (int i = 0; i < FLOOD; i++) {
        if (sigqueue(getpid(), FLOODED, (union sigval){.sival_int = i}) == 0) {
            sent++;
            values += (unsigned long)i;
        } else {
            STORM_CHECK(self, errno == EAGAIN);
        }
    }
    for (unsigned i = 0; i < FLOOD_THREADS; i++)
        pthread_join(threads[i], NULL);
    unblock(SIG_UNBLOCK, FLOODED);
    unblock(SIG_BLOCK, FLOODED);
    STORM_CHECK(self, flooded_count == count + sent);
    STORM_CHECK(self, flooded_sum == sum + values);
}

static void waits(struct storm_activity *self)
{
    sigset_t set, pending, mask;
    siginfo_t info;
    const struct timespec soon = {0, 2000000};
    const int value = (int)self->rounds;
    sigemptyset(&set);
    sigaddset(&set, PENDED);
    STORM_CHECK(self, pthread_sigmask(SIG_BLOCK, NULL, &mask) == 0 &&
                          sigismember(&mask, PENDED) == 1 &&
                          sigismember(&mask, SIGPROF) == 0);
    errno = 0;
    /* EINTR: the kernel woke it for a signal that another thread then got. */
    STORM_CHECK(self, sigtimedwait(&set, &info, &soon) == -1 &&
                          (errno == EAGAIN || errno == EINTR));
    if (send_self(PENDED, value) == EAGAIN)
        return;
    STORM_CHECK(self, sigpending(&pending) == 0 &&
                          sigismember(&pending, PENDED) == 1);
    int got;
    while ((got = sigwaitinfo(&set, &info)) == -1 && errno == EINTR)
        continue;
    STORM_CHECK(self, got == PENDED && info.si_value.sival_int == value);
}

static void timers(struct storm_activity *self)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = TIMED};
    const struct itimerspec fast = {{0, 2000000}, {0, 2000000}};
    timer_t timer;
    event._sigev_un._tid = gettid();
    const unsigned long before = timed_count;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
        STORM_CHECK(self, errno == EAGAIN);
        return;
    }
    STORM_CHECK(self, timer_settime(timer, 0, &fast, NULL) == 0);
    const struct timespec pause = {0, 30000000};
    struct timespec left = pause;
    while (nanosleep(&left, &left) == -1 && errno == EINTR)
        continue;
    STORM_CHECK(self, timer_delete(timer) == 0);
    STORM_CHECK(self, timed_count >= before + 14);
}

static void descriptors(struct storm_activity *self)
{
    struct signalfd_siginfo info;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, READ);
    const int fd = signalfd(-1, &set, SFD_CLOEXEC);
    STORM_CHECK(self, fd >= 0);
    for (int i = 0; i < 5; i++) {
        if (send_self(READ, i) == EAGAIN)
            break;
        STORM_CHECK(self, read(fd, &info, sizeof(info)) == sizeof(info) &&
                              info.ssi_signo == (uint32_t)READ &&
                              info.ssi_int == i);
    }
    close(fd);
}

/* A handler on another stack that jumps away, with the mask as it was. */
static void jumps(struct storm_activity *self)
{
    static char memory[64 << 10];
    const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
    stack_t old;
    sigset_t mask;
    volatile int times = 0;
    STORM_CHECK(self, sigaltstack(&stack, NULL) == 0);
    if (sigsetjmp(jump, 1) == 7)
        times++;
    if (times < 10) {
        storm_work(20);
        pthread_kill(pthread_self(), JUMPED);
        STORM_CHECK(self, !"it jumped");
    }
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    STORM_CHECK(self, sigismember(&mask, JUMPED) == 0);
    STORM_CHECK(self, sigaltstack(NULL, &old) == 0 && old.ss_sp == memory &&
                          old.ss_flags == 0);
    STORM_CHECK(self, off_stack == 0);
}

static void *receiver(void *data)
{
    _Atomic int *stop = data;
    while (!*stop)
        storm_work(20);
    return NULL;
}

/* One is waited for before the next is sent: none may be lost.  When all is
 * over, the last one may be on its way yet. */
static void kills(struct storm_activity *self)
{
    _Atomic int stop = 0;
    pthread_t thread;
    STORM_CHECK(self, pthread_create(&thread, NULL, receiver, &stop) == 0);
    for (int i = 0; i < 50 && !storm_is_over(); i++) {
        const unsigned long before = killed;
        int error;
        while ((error = pthread_kill(thread, KILLED)) == EAGAIN)
            usleep(1000);
        STORM_CHECK(self, error == 0);
        while (killed == before && !storm_is_over())
            sched_yield();
        STORM_CHECK(self, killed <= before + 1);
    }
    stop = 1;
    pthread_join(thread, NULL);
}

static void alarms_of_real_time(struct storm_activity *self)
{
    const struct itimerval once = {{0, 0}, {0, 3000}};
    const unsigned long before = alarms;
    sigset_t mask;
    unblock(SIG_UNBLOCK, ALARMED);
    STORM_CHECK(self, setitimer(ITIMER_REAL, &once, NULL) == 0);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    sigdelset(&mask, ALARMED);
    while (alarms == before && !storm_is_over())
        usleep(500);
    STORM_CHECK(self, alarms <= before + 1);
    unblock(SIG_BLOCK, ALARMED);
}

static void actions(struct storm_activity *self)
{
    struct sigaction old;
    STORM_CHECK(self, sigaction(KILLED, NULL, &old) == 0 &&
                          old.sa_handler == on_killed &&
                          (old.sa_flags & SA_RESTART) != 0);
    STORM_CHECK(self, sigaction(SIGUSR1, NULL, &old) == 0 &&
                          old.sa_handler == SIG_DFL);
    STORM_CHECK(self, sigaction(SIGPROF, NULL, &old) == 0 &&
                          old.sa_handler == SIG_DFL);
    STORM_CHECK(self, signal(SIGURG, SIG_IGN) != SIG_ERR &&
                          raise(SIGURG) == 0 &&
                          signal(SIGURG, SIG_DFL) == SIG_IGN);
}

struct storm_activity storm_signals[] = {
    {"queues", queues, 500, 0, 0},
    {"floods", floods, 500, 0, 0},
    {"waits", waits, 500, 0, 0},
    {"timers", timers, 1000, 0, 0},
    {"descriptors", descriptors, 1000, 0, 0},
    {"jumps", jumps, 500, 0, 0},
    {"kills", kills, 500, 0, 0},
    {"alarms", alarms_of_real_time, 1000, 0, 0},
    {"actions", actions, 1000, 0, 0},
    {0, 0, 0, 0, 0},
};
