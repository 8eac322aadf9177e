/* SPDX-License-Identifier: MIT
 *
 * A program that computes in beats and measures itself:
 *     beats SECONDS HZ CPU_US WAIT THREADS [FUNCTIONS [EIGHTHS]]
 * Each of its threads computes for CPU_US of CPU time, HZ times a second, until
 * it has used SECONDS of CPU time.  The first of its functions gets 85% of each
 * beat and the others get equal parts of the rest.  Between two beats it waits
 * as WAIT says.  It prints, for each function, the CPU time in ms that the
 * threads' CPU clocks say it used.  EIGHTHS: the beats begin that part of their
 * distance after its multiples on CLOCK_MONOTONIC, and the functions get equal
 * parts.
 * Runs in: tests. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000ULL
#define FUNCTIONS 8
#define EIGHTHS 8U
#define THREADS_MAX 64

struct beat {
    pthread_mutex_t mutex, held;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    sem_t semaphore;
    int pipe[2], sockets[2], timer, epoll;
    pthread_t waker;
    uint64_t next_ns;
    _Atomic uint32_t wakes;
    uint32_t seen;
    int over; /* its thread is about to end */
    uint64_t used[FUNCTIONS];
};

typedef void wait_function(struct beat *beat);
typedef void wake_function(struct beat *beat);

static uint64_t period_ns, work_ns, limit_ns;
static unsigned functions = 2, eighths = EIGHTHS;
static double loops_per_ns;
static _Atomic int ended;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * NS + (uint64_t)time.tv_nsec;
}

static struct timespec to_time(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / NS), (long)(ns % NS)};
}

/* The functions are alike; a name each. */
#define COMPUTE(name)                                                          \
    __attribute__((noinline)) void name(uint64_t loops);                       \
    void name(uint64_t loops)                                                  \
    {                                                                          \
        for (volatile uint64_t i = 0; i < loops; i++) {                        \
        }                                                                      \
    }
COMPUTE(first)
COMPUTE(second)
COMPUTE(third)
COMPUTE(fourth)
COMPUTE(fifth)
COMPUTE(sixth)
COMPUTE(seventh)
COMPUTE(eighth)

static void (*const computing[FUNCTIONS])(uint64_t) = {
    first, second, third, fourth, fifth, sixth, seventh, eighth};

/* --- how a thread waits, and how its waker ends the wait --- */

static uint64_t until_next(const struct beat *beat)
{
    const uint64_t now = now_ns(CLOCK_MONOTONIC);
    return beat->next_ns > now ? beat->next_ns - now : 0;
}

static void by_nanosleep(struct beat *beat)
{
    const struct timespec time = to_time(until_next(beat));
    nanosleep(&time, NULL);
}

static void by_clock_nanosleep(struct beat *beat)
{
    const struct timespec time = to_time(beat->next_ns);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void by_poll(struct beat *beat)
{
    const struct timespec time = to_time(until_next(beat));
    ppoll(NULL, 0, &time, NULL);
}

static void set_timer(struct beat *beat)
{
    const struct itimerspec when = {{0, 0}, to_time(beat->next_ns)};
    timerfd_settime(beat->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void read_timer(struct beat *beat)
{
    uint64_t count;
    if (read(beat->timer, &count, sizeof(count)) < 0)
        perror("timerfd");
}

static void by_timerfd(struct beat *beat)
{
    set_timer(beat);
    read_timer(beat);
}

static void by_epoll(struct beat *beat)
{
    struct epoll_event event;
    set_timer(beat);
    epoll_wait(beat->epoll, &event, 1, -1);
    read_timer(beat);
}

static void by_timed_condition(struct beat *beat)
{
    const struct timespec time = to_time(beat->next_ns);
    pthread_mutex_lock(&beat->mutex);
    while (pthread_cond_clockwait(&beat->condition, &beat->mutex,
                                  CLOCK_MONOTONIC, &time) == 0) {
    }
    pthread_mutex_unlock(&beat->mutex);
}

static void by_condition(struct beat *beat)
{
    pthread_mutex_lock(&beat->mutex);
    while (atomic_load(&beat->wakes) == beat->seen)
        pthread_cond_wait(&beat->condition, &beat->mutex);
    beat->seen = atomic_load(&beat->wakes);
    pthread_mutex_unlock(&beat->mutex);
}

static void wake_condition(struct beat *beat)
{
    pthread_mutex_lock(&beat->mutex);
    atomic_fetch_add(&beat->wakes, 1);
    pthread_cond_signal(&beat->condition);
    pthread_mutex_unlock(&beat->mutex);
}

static void by_semaphore(struct beat *beat)
{
    sem_wait(&beat->semaphore);
}

static void wake_semaphore(struct beat *beat)
{
    sem_post(&beat->semaphore);
}

static void by_barrier(struct beat *beat)
{
    pthread_barrier_wait(&beat->barrier);
}

/* The waker holds the mutex from one beat to the next. */
static void by_mutex(struct beat *beat)
{
    pthread_mutex_lock(&beat->held);
    pthread_mutex_unlock(&beat->held);
    sem_post(&beat->semaphore);
}

static void wake_mutex(struct beat *beat)
{
    pthread_mutex_unlock(&beat->held);
    sem_wait(&beat->semaphore);
    pthread_mutex_lock(&beat->held);
}

static void by_pipe(struct beat *beat)
{
    char byte;
    if (read(beat->pipe[0], &byte, 1) < 0)
        perror("pipe");
}

static void wake_pipe(struct beat *beat)
{
    if (write(beat->pipe[1], "x", 1) < 0)
        perror("pipe");
}

static void by_recv(struct beat *beat)
{
    char byte;
    recv(beat->sockets[0], &byte, 1, 0);
}

static void wake_recv(struct beat *beat)
{
    send(beat->sockets[1], "x", 1, 0);
}

static sigset_t wake_signals;

static void by_sigwait(struct beat *beat)
{
    int signal;
    (void)beat;
    sigwait(&wake_signals, &signal);
}

static pthread_t waiters[THREADS_MAX];
static struct beat beats[THREADS_MAX];

static void wake_sigwait(struct beat *beat)
{
    pthread_mutex_lock(&beat->mutex);
    if (!beat->over)
        pthread_kill(waiters[beat - beats], SIGRTMIN + 5);
    pthread_mutex_unlock(&beat->mutex);
}

static const struct {
    const char *name;
    wait_function *wait;
    wake_function *wake; /* NULL: the wait ends by itself */
} kinds[] = {
    {"nanosleep", by_nanosleep, NULL},
    {"clock_nanosleep", by_clock_nanosleep, NULL},
    {"poll", by_poll, NULL},
    {"timerfd", by_timerfd, NULL},
    {"epoll", by_epoll, NULL},
    {"timedcond", by_timed_condition, NULL},
    {"cond", by_condition, wake_condition},
    {"sem", by_semaphore, wake_semaphore},
    {"barrier", by_barrier, by_barrier},
    {"mutex", by_mutex, wake_mutex},
    {"pipe", by_pipe, wake_pipe},
    {"recv", by_recv, wake_recv},
    {"sigwait", by_sigwait, wake_sigwait},
};
static unsigned kind;

static void work(struct beat *beat)
{
    for (unsigned i = 0; i < functions; i++) {
        const double unequal = i == 0 ? 0.85 : 0.15 / (functions - 1);
        const double part = eighths < EIGHTHS ? 1.0 / functions : unequal;
        const uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
        computing[i]((uint64_t)((double)work_ns * part * loops_per_ns));
        beat->used[i] += now_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
}

static void *run(void *data)
{
    struct beat *beat = data;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < limit_ns) {
        work(beat);
        const uint64_t now = now_ns(CLOCK_MONOTONIC);
        beat->next_ns += period_ns;
        if (beat->next_ns > now || kinds[kind].wake != NULL)
            kinds[kind].wait(beat);
        else
            beat->next_ns = now;
    }
    pthread_mutex_lock(&beat->mutex);
    beat->over = 1;
    pthread_mutex_unlock(&beat->mutex);
    return NULL;
}

/* Ends the waits of one thread, a beat each. */
static void *wake(void *data)
{
    struct beat *beat = data;
    uint64_t next = now_ns(CLOCK_MONOTONIC);
    if (kinds[kind].wait == by_mutex)
        pthread_mutex_lock(&beat->held);
    while (!atomic_load(&ended)) {
        next += period_ns;
        const struct timespec time = to_time(next);
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
        if (!atomic_load(&ended))
            kinds[kind].wake(beat);
    }
    return NULL;
}

static void prepare(struct beat *beat)
{
    struct epoll_event event = {.events = EPOLLIN};
    pthread_mutex_init(&beat->mutex, NULL);
    pthread_mutex_init(&beat->held, NULL);
    pthread_cond_init(&beat->condition, NULL);
    pthread_barrier_init(&beat->barrier, NULL, 2);
    sem_init(&beat->semaphore, 0, 0);
    beat->timer = timerfd_create(CLOCK_MONOTONIC, 0);
    beat->epoll = epoll_create1(0);
    if (pipe(beat->pipe) != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, beat->sockets) != 0 ||
        epoll_ctl(beat->epoll, EPOLL_CTL_ADD, beat->timer, &event) != 0)
        perror("beats");
    beat->next_ns = now_ns(CLOCK_MONOTONIC);
    if (eighths < EIGHTHS)
        beat->next_ns += period_ns - beat->next_ns % period_ns +
                         eighths * period_ns / EIGHTHS;
}

static void calibrate(void)
{
    const uint64_t loops = 20000000;
    const uint64_t begin = now_ns(CLOCK_THREAD_CPUTIME_ID);
    for (volatile uint64_t i = 0; i < loops; i++) {
    }
    loops_per_ns =
        (double)loops / (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
}

static int choose(const char *name)
{
    for (kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++)
        if (strcmp(kinds[kind].name, name) == 0)
            return 0;
    fprintf(stderr, "beats: no such wait: %s\n", name);
    return -1;
}

int main(int count, char **words)
{
    static const char *const names[FUNCTIONS] = {"first",   "second", "third",
                                                 "fourth",  "fifth",  "sixth",
                                                 "seventh", "eighth"};
    if (count < 6 || choose(words[4]) != 0)
        return 2;
    const unsigned threads = (unsigned)atoi(words[5]) % (THREADS_MAX + 1);
    limit_ns = (uint64_t)(atof(words[1]) * 1e9);
    period_ns = (uint64_t)(1e9 / atof(words[2]));
    work_ns = (uint64_t)(atof(words[3]) * 1000);
    if (count > 6)
        functions = 2 + (unsigned)(atoi(words[6]) - 2) % (FUNCTIONS - 1);
    if (count > 7)
        eighths = (unsigned)atoi(words[7]);
    sigemptyset(&wake_signals);
    sigaddset(&wake_signals, SIGRTMIN + 5);
    pthread_sigmask(SIG_BLOCK, &wake_signals, NULL);
    calibrate();
    for (unsigned i = 0; i < threads; i++) {
        prepare(&beats[i]);
        pthread_create(&waiters[i], NULL, run, &beats[i]);
        if (kinds[kind].wake != NULL)
            pthread_create(&beats[i].waker, NULL, wake, &beats[i]);
    }
    for (unsigned i = 0; i < threads; i++)
        pthread_join(waiters[i], NULL);
    for (unsigned f = 0; f < functions; f++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < threads; i++)
            sum += beats[i].used[f];
        printf("%s %.6f\n", names[f], (double)sum / 1e6);
    }
    fflush(stdout);
    if (kinds[kind].wake == NULL)
        return 0;
    _exit(0); /* wakers may wait for a thread that has ended */
}
