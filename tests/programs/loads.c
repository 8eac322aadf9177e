/* SPDX-License-Identifier: MIT
 *
 * CPU time of other kinds than a loop's:
 *     loads populate [SECONDS=1] [THREADS=1]   in long system calls
 *     loads sleep [SECONDS=1] [THREADS=1]      in short pieces between sleeps
 *     loads spin [SECONDS=1] [THREADS=1]       in a loop after all
 *     loads idle [SECONDS=1] [THREADS=1]       none: waits, in real time
 * SECONDS is each thread's CPU time; the main thread waits blocked.
 * Prints `thread TID CPU_SECONDS` a thread, and `cpu CPU_SECONDS`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define BYTES (256UL << 20)
#define THREADS_MAX 1024

static double seconds;
static const char *kind;

NOINLINE void populate(void);
NOINLINE void doze(void);
NOINLINE void spin(void);

void populate(void)
{
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        die("mmap");
    munmap(memory, BYTES);
}

void doze(void)
{
    const struct timespec pause = {0, 1000000};
    turn(300000);
    nanosleep(&pause, NULL);
}

void spin(void)
{
    turn(100000);
}

static void *work(void *data)
{
    void (*const what)(void) = strcmp(kind, "populate") == 0 ? populate
                               : strcmp(kind, "sleep") == 0  ? doze
                                                             : spin;
    if (strcmp(kind, "idle") == 0) {
        struct timespec left = {(time_t)seconds,
                                (long)((seconds - (time_t)seconds) * 1e9)};
        while (nanosleep(&left, &left) != 0)
            continue;
    } else {
        while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
            what();
    }
    printf("thread %d %.6f\n", (int)syscall(SYS_gettid),
           cpu_seconds(CLOCK_THREAD_CPUTIME_ID));
    return data;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    const int count = (int)argument(argc, argv, 3, 1);
    if (argc < 2 || count < 1 || count > THREADS_MAX)
        return 64;
    kind = argv[1];
    seconds = argument(argc, argv, 2, 1);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            die("pthread_create");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("cpu %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
