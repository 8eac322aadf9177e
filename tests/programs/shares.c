/* SPDX-License-Identifier: MIT
 *
 * Threads that spend known shares of their CPU time, 50:30:20, in hot_a,
 * hot_b and hot_c, below a recursion 20 deep:
 *     shares [THREADS=4] [CPU_SECONDS_A_THREAD=2] [leaf|frame]
 * As `leaf` the hot functions call no one; as `frame` the time is spent in
 * work(), which they call, and they are frames above it.  Prints a line
 * `thread TID CPU_SECONDS A B C` a thread, A to C being the seconds spent in
 * each function by the thread's own clock, and `total CPU_SECONDS`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>

#define DEPTH 20
#define THREADS_MAX 64
#define SLICE 20000 /* turns a call: some ten microseconds */

static int as_frames;
static double seconds_a_thread;

struct spent {
    pid_t tid;
    double total, function[3];
};

NOINLINE uint64_t work(uint64_t turns);
NOINLINE uint64_t hot_a(uint64_t turns);
NOINLINE uint64_t hot_b(uint64_t turns);
NOINLINE uint64_t hot_c(uint64_t turns);
NOINLINE uint64_t frame_a(uint64_t turns);
NOINLINE uint64_t frame_b(uint64_t turns);
NOINLINE uint64_t frame_c(uint64_t turns);
NOINLINE void recurse(int depth, struct spent *spent);

uint64_t work(uint64_t turns)
{
    FRAME();
    return turn(turns);
}

uint64_t hot_a(uint64_t turns)
{
    return turn(turns) + 1;
}

uint64_t hot_b(uint64_t turns)
{
    return turn(turns) + 2;
}

uint64_t hot_c(uint64_t turns)
{
    return turn(turns) + 3;
}

uint64_t frame_a(uint64_t turns)
{
    return work(turns) + 1;
}

uint64_t frame_b(uint64_t turns)
{
    return work(turns) + 2;
}

uint64_t frame_c(uint64_t turns)
{
    return work(turns) + 3;
}

/* Calls one function until it has used `goal` seconds; the thread's clock is
 * read once in 40 calls, which is far below a sample's worth. */
static double use(uint64_t (*function)(uint64_t), double goal)
{
    double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID), now = start;
    while (now - start < goal) {
        for (int i = 0; i < 40; i++)
            function(SLICE);
        now = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    }
    return now - start;
}

/* Spends the thread's time in rounds, so that each function's share holds in
 * every part of the run too. */
static void rounds(struct spent *spent)
{
    static const double share[3] = {0.5, 0.3, 0.2};
    uint64_t (*const leaf[3])(uint64_t) = {hot_a, hot_b, hot_c};
    uint64_t (*const frame[3])(uint64_t) = {frame_a, frame_b, frame_c};
    while (spent->total < seconds_a_thread) {
        for (int i = 0; i < 3; i++) {
            /* What is owed by now: an overrun in one round is made up for. */
            double due = (spent->total + 0.1) * share[i];
            double owed = due - spent->function[i];
            spent->function[i] += use(as_frames ? frame[i] : leaf[i], owed);
        }
        spent->total =
            spent->function[0] + spent->function[1] + spent->function[2];
    }
}

void recurse(int depth, struct spent *spent)
{
    if (depth > 1)
        recurse(depth - 1, spent);
    else
        rounds(spent);
    BARRIER();
}

static void *thread_main(void *argument_)
{
    struct spent *spent = argument_;
    spent->tid = (pid_t)syscall(SYS_gettid);
    recurse(DEPTH, spent);
    spent->total = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    return NULL;
}

int main(int argc, char **argv)
{
    static struct spent spent[THREADS_MAX];
    pthread_t threads[THREADS_MAX];
    int count = (int)argument(argc, argv, 1, 4);
    seconds_a_thread = argument(argc, argv, 2, 2);
    as_frames = argc > 3 && strcmp(argv[3], "frame") == 0;
    if (count < 1 || count > THREADS_MAX)
        return 2;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, thread_main, &spent[i]) != 0)
            return 2;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        printf("thread %d %.6f %.6f %.6f %.6f\n", (int)spent[i].tid,
               spent[i].total, spent[i].function[0], spent[i].function[1],
               spent[i].function[2]);
    }
    printf("total %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
