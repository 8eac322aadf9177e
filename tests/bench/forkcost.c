/* SPDX-License-Identifier: MIT
 *
 * What fork costs a process of a given size: prints the least and the median
 * time until it returns in the parent, and the least CPU time that it takes
 * there, in microseconds.
 *     forkcost [RESIDENT_MIB=2048] [ROUNDS=15]
 * The child ends at once; the memory is touched page by page, huge pages off.
 * Runs in: benchmarks. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    size_t size = (argc > 1 ? strtoul(argv[1], NULL, 10) : 2048) << 20;
    int rounds = argc > 2 ? atoi(argv[2]) : 15;
    uint64_t *times = calloc((size_t)rounds, sizeof(*times));
    uint64_t least = UINT64_MAX;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (times == NULL || memory == MAP_FAILED)
        return 2;
    madvise(memory, size, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < size; at += 4096)
        memory[at] = 1;
    for (int i = 0; i < rounds; i++) {
        uint64_t start = now(CLOCK_MONOTONIC);
        uint64_t used = now(CLOCK_THREAD_CPUTIME_ID);
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        used = now(CLOCK_THREAD_CPUTIME_ID) - used;
        times[i] = now(CLOCK_MONOTONIC) - start;
        least = used < least ? used : least;
        if (pid < 0 || waitpid(pid, NULL, 0) != pid)
            return 2;
    }
    qsort(times, (size_t)rounds, sizeof(*times), compare);
    printf("%llu %llu %llu\n", (unsigned long long)(times[0] / 1000),
           (unsigned long long)(times[rounds / 2] / 1000),
           (unsigned long long)(least / 1000));
    return 0;
}
