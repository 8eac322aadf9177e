/* SPDX-License-Identifier: MIT
 *
 * The storm: everything at once that may go wrong under a profiler.
 *     storm SECONDS SWAP_A SWAP_B [ACTIVITY...]
 * Prints `activity NAME rounds N wrong N` each, `tid N cpu S to S wall S to S`
 * of its threads, and `cpu S wall S` of the whole; what was wrong before that.
 * A thread's times lie between two: of its rounds, and of all from before it
 * was made until its last destructor, after its profile has ended.
 * `storm child US` works so long and ends with status 5.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "storm.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SHOWN 20

const char *storm_self, *storm_libraries[2];
static _Atomic int over;
static _Atomic int shown;

static struct storm_activity *const groups[] = {
    storm_contexts, storm_io,      storm_loads,   storm_processes,
    storm_sandbox,  storm_signals, storm_threads,
};
#define GROUPS (sizeof(groups) / sizeof(groups[0]))
#define THREADS_MAX 64

static double seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int storm_is_over(void)
{
    return atomic_load(&over);
}

void storm_wrong(struct storm_activity *self, const char *what, int line)
{
    const int error = errno;
    self->wrong++;
    if (atomic_fetch_add(&shown, 1) < SHOWN)
        printf("wrong %s:%d: %s (errno %d)\n", self->name, line, what, error);
}

unsigned long storm_work(unsigned us)
{
    volatile unsigned long value = us;
    for (unsigned i = 0; i < us * 200U; i++)
        value = value * 6364136223846793005UL + 1;
    return value;
}

int storm_status_of(int pid)
{
    int status = 0;
    pid_t got;
    do
        got = waitpid(pid, &status, 0);
    while (got < 0 && errno == EINTR);
    if (got == pid && WIFEXITED(status) && WEXITSTATUS(status) < 100)
        return WEXITSTATUS(status);
    /* What else happened is said: the caller knows only that it was wrong. */
    printf("child %d: waitpid %d, status 0x%x (errno %d)\n", pid, (int)got,
           (unsigned)status, errno);
    return -1;
}

/* The times of one thread. */
static struct times {
    struct storm_activity *activity;
    int tid;
    double made;             /* before pthread_create */
    double cpu_from, cpu_to; /* its CPU time when its rounds begin and end, */
    double from, to;         /* and CLOCK_MONOTONIC then; */
    double cpu_ended, ended; /* and in the destructor of its data */
} all_times[THREADS_MAX];
static pthread_key_t key;

static void note_end(void *data)
{
    struct times *times = data;
    times->cpu_ended = seconds(CLOCK_THREAD_CPUTIME_ID);
    times->ended = seconds(CLOCK_MONOTONIC);
}

static void *go(void *data)
{
    struct times *times = data;
    struct storm_activity *self = times->activity;
    times->tid = (int)gettid();
    pthread_setspecific(key, times);
    times->cpu_from = seconds(CLOCK_THREAD_CPUTIME_ID);
    times->from = seconds(CLOCK_MONOTONIC);
    while (!storm_is_over()) {
        self->round(self);
        self->rounds++;
        if (self->pause_us != 0)
            usleep(self->pause_us);
    }
    times->cpu_to = seconds(CLOCK_THREAD_CPUTIME_ID);
    times->to = seconds(CLOCK_MONOTONIC);
    return NULL;
}

static int wanted(const struct storm_activity *activity, char **names)
{
    if (*names == NULL)
        return 1;
    for (; *names != NULL; names++)
        if (strcmp(*names, activity->name) == 0)
            return 1;
    return 0;
}

static void storm(double length, char **names)
{
    pthread_t threads[THREADS_MAX];
    unsigned count = 0;
    pthread_key_create(&key, note_end);
    for (unsigned i = 0; i < GROUPS; i++)
        for (struct storm_activity *a = groups[i]; a->name != NULL; a++) {
            if (!wanted(a, names) || count == THREADS_MAX)
                continue;
            all_times[count] =
                (struct times){.activity = a, .made = seconds(CLOCK_MONOTONIC)};
            if (pthread_create(&threads[count], NULL, go, &all_times[count]) ==
                0)
                count++;
        }
    usleep((useconds_t)(length * 1e6));
    atomic_store(&over, 1);
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (const struct times *t = all_times; t < all_times + count; t++)
        printf("tid %d cpu %.6f to %.6f wall %.6f to %.6f %s\n", t->tid,
               t->cpu_to - t->cpu_from, t->cpu_ended, t->to - t->from,
               t->ended - t->made, t->activity->name);
}

int main(int argc, char **argv)
{
    const double start = seconds(CLOCK_MONOTONIC);
    if (argc == 3 && strcmp(argv[1], "child") == 0)
        return storm_work((unsigned)atoi(argv[2])) == 0 ? 1 : 5;
    if (argc < 4)
        return 64;
    setvbuf(stdout, NULL, _IOLBF, 0);
    storm_self = argv[0];
    storm_libraries[0] = argv[2];
    storm_libraries[1] = argv[3];
    signal(SIGPIPE, SIG_IGN);
    storm_signals_init();
    storm(atof(argv[1]), argv + 4);
    for (unsigned i = 0; i < GROUPS; i++)
        for (struct storm_activity *a = groups[i]; a->name != NULL; a++)
            if (wanted(a, argv + 4))
                printf("activity %s rounds %lu wrong %lu\n", a->name, a->rounds,
                       a->wrong);
    printf("cpu %.6f wall %.6f\n", seconds(CLOCK_PROCESS_CPUTIME_ID),
           seconds(CLOCK_MONOTONIC) - start);
    return 0;
}
