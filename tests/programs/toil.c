/* SPDX-License-Identifier: MIT
 *
 * A fixed amount of work, so that what a profile costs can be told:
 *     toil deep TURNS [DEPTH] [THREADS]   each thread at the bottom of DEPTH
 *                                         calls
 *     toil row TURNS DEPTH THREADS        one thread after another
 *     toil waves TURNS DEPTH              above and below DEPTH calls by turns,
 *                                         three times
 *     toil naps TURNS COUNT [THREADS]     COUNT naps of 200 us, TURNS between
 *                                         each two
 *     toil ask TURNS DEPTH                for ever; SIGHUP is counted, SIGTERM
 *                                         prints `hups N` and ends it
 * TURNS are thousands.  Prints `cpu SECONDS wall SECONDS`, of CPU time used
 * and of real time; `waves` before that six lines `wave CPU_SECONDS`, the
 * thread's CPU time at the end of each.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define THREADS_MAX 64
#define STACK_BYTES (64UL << 20)

static long turns, depth, naps;
static volatile sig_atomic_t hups;

NOINLINE int descend(long left);
NOINLINE void work(void);

void work(void)
{
    FRAME();
    for (long i = 0; i < turns; i++)
        turn(1000);
}

int descend(long left)
{
    FRAME();
    if (left > 0)
        return descend(left - 1) + 1;
    work();
    return 0;
}

static void *toiling(void *data)
{
    (void)data;
    descend(depth);
    return NULL;
}

static void *napping(void *data)
{
    (void)data;
    for (long i = 0; i < naps; i++) {
        work();
        usleep(200);
    }
    return NULL;
}

static pthread_t begin(void *(*function)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    if (pthread_create(&thread, &attributes, function, NULL) != 0)
        die("pthread_create");
    pthread_attr_destroy(&attributes);
    return thread;
}

static void all_at_once(void *(*function)(void *), long count)
{
    pthread_t threads[THREADS_MAX];
    if (count < 1 || count > THREADS_MAX)
        exit(2);
    for (long i = 1; i < count; i++)
        threads[i] = begin(function);
    function(NULL);
    for (long i = 1; i < count; i++)
        pthread_join(threads[i], NULL);
}

static void in_a_row(long count)
{
    for (long i = 0; i < count; i++)
        pthread_join(begin(toiling), NULL);
}

static void wave(void)
{
    printf("wave %.6f\n", cpu_seconds(CLOCK_THREAD_CPUTIME_ID));
}

static void in_waves(void)
{
    for (int i = 0; i < 3; i++) {
        work();
        wave();
        descend(depth);
        wave();
    }
}

static void on_hup(int signal)
{
    (void)signal;
    hups++;
}

static void on_term(int signal)
{
    char text[32];
    (void)signal;
    const int size = snprintf(text, sizeof(text), "hups %d\n", (int)hups);
    _exit(write(1, text, (size_t)size) == size ? 0 : 1);
}

static void answering(void)
{
    signal(SIGHUP, on_hup);
    signal(SIGTERM, on_term);
    for (;;)
        descend(depth);
}

int main(int argc, char **argv)
{
    const double start = cpu_seconds(CLOCK_MONOTONIC);
    const char *way = argc > 1 ? argv[1] : "";
    const long last = (long)argument(argc, argv, 4, 1);
    turns = (long)argument(argc, argv, 2, 100);
    depth = (long)argument(argc, argv, 3, 0);
    naps = depth;
    if (strcmp(way, "deep") == 0)
        all_at_once(toiling, last);
    else if (strcmp(way, "row") == 0)
        in_a_row(last);
    else if (strcmp(way, "waves") == 0)
        in_waves();
    else if (strcmp(way, "naps") == 0)
        all_at_once(napping, last);
    else if (strcmp(way, "ask") == 0)
        answering();
    else
        return 64;
    printf("cpu %.6f wall %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID),
           cpu_seconds(CLOCK_MONOTONIC) - start);
    return 0;
}
