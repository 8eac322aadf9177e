/* SPDX-License-Identifier: MIT
 *
 * Raises SIGPROF at a depth of 50 or DEPTH frames and prints the time of one
 * in ns: with an empty handler of its own, with one that calls libunwind's
 * unw_backtrace, or with that of a preloaded profiler.
 * Runs in: `make bench`.
 *
 * handler empty|unw|preloaded COUNT [DEPTH] */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 50

static volatile long done;
static int (*backtrace)(void **, int);

static void on_signal(int signal)
{
    (void)signal;
}

static void on_signal_walk(int signal)
{
    static void *frames[2048];

    (void)signal;
    backtrace(frames, 2048);
}

/* As the kernel sees it (proc(5), SigCgt), since a preloaded profiler may
 * answer for sigaction. */
static int is_handled(int signal)
{
    char line[256];
    unsigned long long caught = 0;
    FILE *status = fopen("/proc/self/status", "r");

    if (status == NULL)
        return 0;
    while (fgets(line, sizeof(line), status) != NULL)
        if (sscanf(line, "SigCgt: %llx", &caught) == 1)
            break;
    fclose(status);
    return (int)(caught >> (signal - 1) & 1);
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* Raises COUNT signals DEPTH frames further down; returns the ns they took. */
__attribute__((noinline)) static uint64_t deeper(int depth, long count)
{
    uint64_t taken;

    if (depth > 0) {
        taken = deeper(depth - 1, count);
        done++; /* after the call, lest it become a jump */
        return taken;
    }
    long pid = getpid();
    long tid = syscall(SYS_gettid);

    taken = now_ns();
    for (long i = 0; i < count; i++)
        syscall(SYS_tgkill, pid, tid, SIGPROF);
    return now_ns() - taken;
}

int main(int argc, char **argv)
{
    long count = argc >= 3 ? atol(argv[2]) : 0;
    int depth = argc >= 4 ? atoi(argv[3]) : DEPTH;

    if (count <= 0) {
        fprintf(stderr, "usage: handler empty|unw|preloaded COUNT [DEPTH]\n");
        return 64;
    }
    if (strcmp(argv[1], "unw") == 0) {
        struct sigaction action = {.sa_handler = on_signal_walk};
        void *library = dlopen("libunwind.so.8", RTLD_NOW);

        if (library != NULL)
            *(void **)&backtrace = dlsym(library, "unw_backtrace");
        if (backtrace == NULL)
            return 1;
        sigaction(SIGPROF, &action, NULL);
    } else if (strcmp(argv[1], "empty") == 0) {
        struct sigaction action = {.sa_handler = on_signal};

        sigaction(SIGPROF, &action, NULL);
    } else if (!is_handled(SIGPROF)) {
        fprintf(stderr, "handler: nobody handles SIGPROF\n");
        return 1;
    }
    deeper(depth, count / 10 + 1); /* warm up */
    printf("%.1f\n", (double)deeper(depth, count) / (double)count);
    return 0;
}
