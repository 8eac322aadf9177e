/* SPDX-License-Identifier: MIT
 *
 * Marks of a program (include/jprof.h):
 *     marks plain       spans "load" and "draw" by turns in the main thread,
 *                       "draw" with three times the work; a span "worker" in a
 *                       second thread; one that is ended by another thread; a
 *                       mark "frame" for each turn
 *     marks signal      marks from a handler that interrupts marks
 *     marks flood N     N marks as fast as can be; prints ns a mark
 *     marks threads N   eight threads at once, N marks each, whose names tell
 *                       the thread and the number, and have many lengths
 *     marks refused     what the functions return for what is no mark
 *     marks fork        a child marks as well
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <jprof.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

typedef int mark_fn(const char *name);
static mark_fn *mark, *begin, *end;
static volatile uint64_t sink;
static _Atomic uint64_t signals;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void spin(double seconds)
{
    const double until = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        sink += turn(1000);
}

static NOINLINE void load(double seconds)
{
    spin(seconds);
    sink++;
}

static NOINLINE void draw(double seconds)
{
    spin(seconds);
    sink++;
}

static void *work(void *data)
{
    begin("worker");
    spin(0.3);
    end("worker");
    end("handed over");
    return data;
}

static void plain(void)
{
    pthread_t thread;
    begin("handed over");
    if (pthread_create(&thread, NULL, work, NULL) != 0)
        die("pthread_create");
    for (int i = 0; i < 4; i++) {
        mark("frame");
        begin("load");
        load(0.05);
        end("load");
        begin("draw");
        draw(0.15);
        end("draw");
    }
    pthread_join(thread, NULL);
    end("never begun");
    begin("never ended");
    spin(0.05);
}

static void on_signal(int number)
{
    (void)number;
    mark("in handler");
    atomic_fetch_add(&signals, 1);
}

static void by_signal(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    const struct itimerval often = {{0, 500}, {0, 500}};
    uint64_t marks = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (const double until = now() + 1; now() < until; marks++)
        mark("outside");
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    printf("outside %lu inside %lu\n", (unsigned long)marks,
           (unsigned long)atomic_load(&signals));
}

static void flood(long count)
{
    const double from = now();
    for (long i = 0; i < count; i++)
        mark("flood");
    printf("ns %.1f\n", (now() - from) * 1e9 / (double)count);
}

#define AT_ONCE 8
static pthread_barrier_t together;
static long marks_each;

static void *mark_many(void *data)
{
    const int number = (int)(intptr_t)data;
    char name[256];
    pthread_barrier_wait(&together);
    for (long i = 0; i < marks_each; i++) {
        const int used = snprintf(name, sizeof(name), "%d %ld ", number, i);
        const size_t more = (size_t)(i * 7 + number) % 200;
        memset(name + used, 'a' + number, more);
        name[(size_t)used + more] = '\0';
        if (mark(name) != 0)
            die("jprof_mark");
    }
    return data;
}

static void at_once(long count)
{
    pthread_t threads[AT_ONCE];
    marks_each = count;
    pthread_barrier_init(&together, NULL, AT_ONCE);
    for (int i = 0; i < AT_ONCE; i++)
        if (pthread_create(&threads[i], NULL, mark_many, (void *)(intptr_t)i) !=
            0)
            die("pthread_create");
    for (int i = 0; i < AT_ONCE; i++)
        pthread_join(threads[i], NULL);
}

static void refused(void)
{
    char name[301];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    spin(0.05);
    printf("null %d empty %d long %d\n", mark(NULL), mark(""), begin(name));
}

static void forked(void)
{
    mark("parent");
    const pid_t child = fork();
    if (child == 0) {
        mark("child");
        exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "plain";
    *(void **)&mark = dlsym(RTLD_DEFAULT, "jprof_mark");
    *(void **)&begin = dlsym(RTLD_DEFAULT, "jprof_span_begin");
    *(void **)&end = dlsym(RTLD_DEFAULT, "jprof_span_end");
    if (mark == NULL || begin == NULL || end == NULL)
        return 2;
    if (strcmp(what, "signal") == 0)
        by_signal();
    else if (strcmp(what, "flood") == 0)
        flood((long)argument(argc, argv, 2, 100000));
    else if (strcmp(what, "threads") == 0)
        at_once((long)argument(argc, argv, 2, 1000));
    else if (strcmp(what, "refused") == 0)
        refused();
    else if (strcmp(what, "fork") == 0)
        forked();
    else
        plain();
    return 0;
}
