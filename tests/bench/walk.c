/* SPDX-License-Identifier: MIT
 *
 * What a walk alone costs, without the signal and the log: in a handler, DEPTH
 * frames down, walks the interrupted stack COUNT times by the walker that
 * JPROF_FLAGS chooses, COUNT times so that it finds no cache of the walk
 * before, and COUNT times by libunwind's unw_backtrace, by turns.  Prints the
 * median ns of a walk by each, the frames that jprof and libunwind found, and
 * why jprof's walk ended (enum jp_reason):
 *     walk COUNT DEPTH
 * Linked with the library's objects; built with frame pointers and without.
 * Runs in: `make bench`. */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "sig/state/buffer.h"
#include "sig/state/thread.h"
#include "sig/unwind/unwind.h"

#define ROUNDS 31

static long count;
static volatile long done;
static struct jp_thread *thread;
static int (*backtrace)(void **, int);
static double walked[ROUNDS], scratch[ROUNDS], unwound[ROUNDS];
static unsigned frames, their_frames, reason;

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    static void *found[4096];

    (void)signal, (void)info;
    for (int round = -1; round < ROUNDS; round++) { /* one to warm up */
        uint64_t start = now_ns();

        for (long i = 0; i < count; i++)
            reason = jp_walk_sig(thread, thread->buffer, context);
        double taken = (double)(now_ns() - start) / (double)count;
        frames = thread->buffer->depth;
        start = now_ns();
        for (long i = 0; i < count; i++) {
            thread->buffer->cache.ready = 0;
            jp_walk_sig(thread, thread->buffer, context);
        }
        double alone = (double)(now_ns() - start) / (double)count;
        start = now_ns();
        for (long i = 0; backtrace && i < count; i++)
            their_frames = (unsigned)backtrace(found, 4096);
        double theirs = (double)(now_ns() - start) / (double)count;
        if (round < 0)
            continue;
        walked[round] = taken;
        scratch[round] = alone;
        unwound[round] = theirs;
    }
}

__attribute__((noinline)) static void deeper(long depth)
{
    if (depth > 0)
        deeper(depth - 1);
    else
        raise(SIGURG);
    done++; /* after the call, lest it become a jump */
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    void *library = dlopen("libunwind.so.8", RTLD_NOW);

    count = argc > 1 ? atol(argv[1]) : 0;
    if (argc != 3 || count <= 0) {
        fprintf(stderr, "usage: walk COUNT DEPTH\n");
        return 64;
    }
    raise(SIGPROF); /* the first sample makes the log, the map and a buffer */
    thread = jp_thread_by_tid_sig((uint32_t)syscall(SYS_gettid));
    if (thread == NULL || thread->buffer == NULL) {
        fprintf(stderr, "walk: no profile: JPROF_FLAGS=\"JP_START ...\"\n");
        return 1;
    }
    if (library)
        *(void **)&backtrace = dlsym(library, "unw_backtrace");
    action.sa_sigaction = on_signal;
    sigaction(SIGURG, &action, NULL);
    deeper(atol(argv[2]));
    qsort(walked, ROUNDS, sizeof(*walked), ascending);
    qsort(scratch, ROUNDS, sizeof(*scratch), ascending);
    qsort(unwound, ROUNDS, sizeof(*unwound), ascending);
    printf("%.1f %.1f %.1f %u %u %u\n", walked[ROUNDS / 2], scratch[ROUNDS / 2],
           backtrace ? unwound[ROUNDS / 2] : 0.0, frames, their_frames, reason);
    return 0;
}
