/* SPDX-License-Identifier: MIT
 *
 * A program that logs by its own clocks what its threads did:
 *     rhythms ticker SECONDS A B       a thread sleeps A s, then B s, by turns
 *     rhythms mix SECONDS CYCLE        computes, sleeps, waits for a mutex and
 *                                      for a pipe, a quarter of CYCLE s each
 *     rhythms pool SECONDS THREADS     workers take work of some ms from a
 *                                      queue
 *     rhythms cut SECONDS              by turns, sleeps that the next signal
 *                                      ends
 *     rhythms contend SECONDS THREADS  threads hold one mutex by turns, and
 *                                      rest
 *     rhythms brief SECONDS REST WORK  threads that rest, compute and end
 *     rhythms turns SECONDS REST WORK  a thread that rests, computes, rests ...
 * Prints `truth TID FUNCTION WALL CPU`, in seconds, when a thread ends.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>

struct truth {
    const char *function;
    double wall, cpu;
};

static double seconds, first, second;
static int cut; /* sleeps are not made again */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static sem_t lock_it, locked, write_it;
static int ends[2], queued, stopped;

static double now(void)
{
    return cpu_seconds(CLOCK_MONOTONIC);
}

static void rest(double time)
{
    struct timespec left = {(time_t)time,
                            (long)((time - (double)(time_t)time) * 1e9)};
    if (cut)
        syscall(SYS_nanosleep, &left, NULL);
    while (!cut && nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

static void post(sem_t *semaphore)
{
    if (sem_post(semaphore) != 0)
        die("sem_post");
}

static void await(sem_t *semaphore)
{
    while (sem_wait(semaphore) != 0)
        ;
}

static void say(const struct truth *truth)
{
    printf("truth %d %s %.6f %.6f\n", (int)syscall(SYS_gettid), truth->function,
           truth->wall, truth->cpu);
}

NOINLINE void wait_a(void);
NOINLINE void wait_b(void);
NOINLINE void do_compute(void);
NOINLINE void do_sleep(void);
NOINLINE void do_mutex(void);
NOINLINE void do_pipe(void);
NOINLINE void do_work(void);
NOINLINE void do_take(void);
NOINLINE void do_lock(void);
NOINLINE void do_hold(void);
NOINLINE void do_rest(void);
NOINLINE void do_task(void);

void wait_a(void)
{
    rest(first);
    BARRIER();
}

void wait_b(void)
{
    rest(second);
    BARRIER();
}

static void compute(double time)
{
    const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + time;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        turn(500);
}

void do_compute(void)
{
    compute(first / 4);
    BARRIER();
}

void do_sleep(void)
{
    rest(first / 4);
    BARRIER();
}

void do_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    BARRIER();
}

void do_pipe(void)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        die("read");
    BARRIER();
}

void do_work(void)
{
    static _Thread_local uint32_t seed = 1;
    seed = seed * 1103515245U + 12345U;
    compute(0.002 + 0.006 * (double)(seed >> 16 & 1023) / 1024);
    BARRIER();
}

void do_take(void)
{
    pthread_mutex_lock(&mutex);
    while (queued == 0 && !stopped)
        pthread_cond_wait(&filled, &mutex);
    if (queued > 0)
        queued--;
    pthread_mutex_unlock(&mutex);
    BARRIER();
}

void do_lock(void)
{
    pthread_mutex_lock(&mutex);
    BARRIER();
}

void do_hold(void)
{
    rest(0.004);
    BARRIER();
}

void do_rest(void)
{
    rest(first);
    BARRIER();
}

void do_task(void)
{
    compute(second);
    BARRIER();
}

static void timed(struct truth *truth, void (*function)(void))
{
    const double start = now(), used = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    function();
    truth->wall += now() - start;
    truth->cpu += cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - used;
}

static void *tick(void *data)
{
    struct truth a = {"wait_a", 0, 0}, b = {"wait_b", 0, 0};
    const double end = now() + seconds;
    while (now() < end) {
        timed(&a, wait_a);
        timed(&b, wait_b);
    }
    say(&a);
    say(&b);
    return data;
}

static void *hold(void *data)
{
    for (;;) {
        await(&lock_it);
        pthread_mutex_lock(&mutex);
        post(&locked);
        rest(first / 4);
        pthread_mutex_unlock(&mutex);
    }
    return data;
}

static void *feed(void *data)
{
    for (;;) {
        await(&write_it);
        rest(first / 4);
        if (write(ends[1], "x", 1) != 1)
            die("write");
    }
    return data;
}

static void *mix(void *data)
{
    static void (*const functions[])(void) = {do_compute, do_sleep, do_mutex,
                                              do_pipe};
    struct truth truths[] = {{"do_compute", 0, 0},
                             {"do_sleep", 0, 0},
                             {"do_mutex", 0, 0},
                             {"do_pipe", 0, 0}};
    const double end = now() + seconds;
    for (int i = 0; now() < end; i = (i + 1) % 4) {
        if (i == 2) {
            post(&lock_it);
            await(&locked);
        } else if (i == 3) {
            post(&write_it);
        }
        timed(&truths[i], functions[i]);
    }
    for (int i = 0; i < 4; i++)
        say(&truths[i]);
    return data;
}

static void *serve(void *data)
{
    struct truth work = {"do_work", 0, 0}, take = {"do_take", 0, 0};
    while (!__atomic_load_n(&stopped, __ATOMIC_RELAXED)) {
        timed(&take, do_take);
        timed(&work, do_work);
    }
    say(&work);
    say(&take);
    return data;
}

/* The lock is held for 4 ms, and wanted again after 15 ms of rest and 1 ms of
 * CPU. */
static void *contend(void *data)
{
    static void (*const functions[])(void) = {do_lock, do_hold, do_rest,
                                              do_task};
    struct truth truths[] = {{"do_lock", 0, 0},
                             {"do_hold", 0, 0},
                             {"do_rest", 0, 0},
                             {"do_task", 0, 0}};
    const double end = now() + seconds;
    while (now() < end)
        for (int i = 0; i < 4; i++) {
            timed(&truths[i], functions[i]);
            if (i == 1)
                pthread_mutex_unlock(&mutex);
        }
    for (int i = 0; i < 4; i++)
        say(&truths[i]);
    return data;
}

static void *once(void *data)
{
    struct truth idle = {"do_rest", 0, 0}, task = {"do_task", 0, 0};
    timed(&idle, do_rest);
    timed(&task, do_task);
    say(&idle);
    say(&task);
    return data;
}

static void *turns(void *data)
{
    struct truth idle = {"do_rest", 0, 0}, task = {"do_task", 0, 0};
    const double end = now() + seconds;
    while (now() < end) {
        timed(&idle, do_rest);
        timed(&task, do_task);
    }
    say(&idle);
    say(&task);
    return data;
}

static pthread_t start(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) != 0)
        die("pthread_create");
    return thread;
}

static void pool(int count)
{
    pthread_t threads[64];
    const double end = now() + seconds;
    for (int i = 0; i < count; i++)
        threads[i] = start(serve);
    while (now() < end) {
        rest(0.02);
        pthread_mutex_lock(&mutex);
        queued = queued < 8 ? queued + 2 : queued;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&mutex);
    }
    pthread_mutex_lock(&mutex);
    __atomic_store_n(&stopped, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&filled);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void contenders(int count)
{
    pthread_t threads[64];
    first = 0.015;
    second = 0.001;
    for (int i = 0; i < count; i++)
        threads[i] = start(contend);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* Two at a time. */
static void briefly(void)
{
    const double end = now() + seconds;
    while (now() < end) {
        const pthread_t one = start(once), other = start(once);
        pthread_join(one, NULL);
        pthread_join(other, NULL);
    }
}

/* A number of threads, from 1 to 64. */
static int counted(double number)
{
    return number < 1 || number > 64 ? 1 : (int)number;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "ticker";
    seconds = argument(argc, argv, 2, 5);
    first = argument(argc, argv, 3, 0.3);
    second = argument(argc, argv, 4, 0.7);
    if (pipe(ends) != 0 || sem_init(&lock_it, 0, 0) != 0 ||
        sem_init(&locked, 0, 0) != 0 || sem_init(&write_it, 0, 0) != 0)
        die("rhythms");
    if (strcmp(what, "mix") == 0) {
        start(hold);
        start(feed);
        pthread_join(start(mix), NULL);
    } else if (strcmp(what, "pool") == 0) {
        pool(counted(first));
    } else if (strcmp(what, "contend") == 0) {
        contenders(counted(first));
    } else if (strcmp(what, "brief") == 0) {
        briefly();
    } else if (strcmp(what, "turns") == 0) {
        pthread_join(start(turns), NULL);
    } else {
        cut = strcmp(what, "cut") == 0;
        pthread_join(start(tick), NULL);
    }
    return 0;
}
