/* SPDX-License-Identifier: MIT
 *
 * Threads that do nothing:
 *     brief row COUNT        one after another
 *     brief crowd COUNT      all at once; each works for a moment
 * Prints `timers N events N` when they are gone: the process's POSIX timers
 * (/proc/self/timers) and perf events (/proc/self/maps); `crowd` prints it
 * when they are all there, too.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <string.h>

#define MOST 4096

static pthread_barrier_t barrier;

static void *nothing(void *data)
{
    return data;
}

static void *moment(void *data)
{
    const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + 0.002;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        turn(10000);
    return data;
}

/* Lines of a file that hold a word. */
static int lines(const char *path, const char *word)
{
    char line[512];
    int count = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return -1;
    while (fgets(line, sizeof(line), file) != NULL)
        count += strstr(line, word) != NULL;
    fclose(file);
    return count;
}

/* The kernel gives out a page at a time, and counts on from there: where a
 * timer goes meanwhile (the main thread's, for a perf event) it skips one. */
static int timers(void)
{
    int most = 0;
    for (int i = 0; i < 3; i++) {
        const int count = lines("/proc/self/timers", "signal:");
        most = count > most ? count : most;
    }
    return most;
}

static void print(void)
{
    const int count = timers();
    printf("timers %d events %d\n", count,
           lines("/proc/self/maps", "perf_event"));
    fflush(stdout);
}

static pthread_t start(void *(*function)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 65536);
    if (pthread_create(&thread, &attributes, function, NULL) != 0)
        die("pthread_create");
    return thread;
}

static void row(int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(start(nothing), NULL);
}

static void crowd(int count)
{
    static pthread_t threads[MOST];
    pthread_barrier_init(&barrier, NULL, (unsigned)count + 1);
    for (int i = 0; i < count; i++)
        threads[i] = start(moment);
    pthread_barrier_wait(&barrier);
    print();
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    const int count = (int)argument(argc, argv, 2, 1000);
    if (argc < 2 || count < 1 || count > 1000000)
        return 64;
    if (strcmp(argv[1], "row") == 0)
        row(count);
    else if (count <= MOST)
        crowd(count);
    print();
    printf("cpu %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
