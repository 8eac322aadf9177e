/* SPDX-License-Identifier: MIT
 *
 * Busy threads, for what a clock captures and what it costs:
 *     spin cpu THREADS SECONDS    SECONDS of CPU time in all
 *     spin work THREADS MILLIONS  so many million steps in all
 *     spin bursts THREADS MILLIONS  the same, a million at a time, with a wait
 *                                 of 3.5 ms behind each
 *     spin row COUNT _            COUNT threads, one after another, that each
 *                                 work for a moment
 * The stack is 25 calls deep.  Prints `CPU_SECONDS WALL_SECONDS PEAK_KIB`, the
 * last being its own resident memory (VmHWM, proc(5)).
 * Runs in: `make bench`. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH 25
#define MOST 256

static double seconds;
static uint64_t turns;
static int with_waits;

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static __attribute__((noinline)) uint64_t steps(uint64_t count)
{
    uint64_t value = count | 1;
    for (uint64_t i = 0; i < count; i++) {
        value = value * 6364136223846793005ULL + 1442695040888963407ULL;
        __asm__ volatile("" ::: "memory");
    }
    return value;
}

static __attribute__((noinline)) uint64_t work(void)
{
    const struct timespec pause = {.tv_nsec = 3500000};
    uint64_t value = 0;
    if (turns != 0)
        for (uint64_t i = 0; i < turns; i++) {
            value += steps(100000);
            if (with_waits && i % 10 == 9)
                nanosleep(&pause, NULL);
        }
    else
        while (now(CLOCK_THREAD_CPUTIME_ID) < seconds)
            value += steps(100000);
    return value;
}

static __attribute__((noinline)) uint64_t deeper(int depth)
{
    uint64_t value = depth > 0 ? deeper(depth - 1) : work();
    __asm__ volatile("" : "+r"(value)); /* no tail call */
    return value;
}

static void *run(void *data)
{
    deeper(DEPTH);
    return data;
}

static void crowd(int count)
{
    static pthread_t threads[MOST];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, run, NULL) != 0)
            exit(2);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static long peak(void)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL)
        exit(2);
    while (fgets(line, sizeof(line), file) != NULL)
        sscanf(line, "VmHWM: %ld", &kib);
    fclose(file);
    return kib;
}

int main(int argc, char **argv)
{
    const double start = now(CLOCK_MONOTONIC);
    if (argc != 4)
        return 64;
    const int count = atoi(argv[2]);
    const double amount = atof(argv[3]);
    if (strcmp(argv[1], "row") == 0) {
        seconds = 0.00005;
        for (int i = 0; i < count; i++)
            crowd(1);
    } else if (count > 0 && count <= MOST) {
        with_waits = strcmp(argv[1], "bursts") == 0;
        if (with_waits || strcmp(argv[1], "work") == 0)
            turns = (uint64_t)(amount * 10 / count);
        seconds = amount / count;
        crowd(count);
    }
    printf("%.6f %.6f %ld\n", now(CLOCK_PROCESS_CPUTIME_ID),
           now(CLOCK_MONOTONIC) - start, peak());
    return 0;
}
