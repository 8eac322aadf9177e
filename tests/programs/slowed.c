/* SPDX-License-Identifier: MIT
 *
 * Five programs one of whose functions is made slower by a known amount, and
 * that measure themselves:
 *     slowed KIND PERCENT SECONDS
 * `slowed` does its work PERCENT times more often than at PERCENT 0; `others`
 * always does the same.  The rounds are repeated until the thread has used
 * SECONDS of CPU time.  It prints, for both functions, the CPU time in ms that
 * the thread's CPU clock says they used.
 * KIND: loop (arithmetic), memory (loads that miss the caches), calls (deep
 * recursion), kernel (system calls), bursts (as loop, a millisecond at a time).
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>
#include <string.h>

#define WORDS (1U << 22) /* 32 MiB, more than most caches */
#define UNIT 20U         /* `slowed` does so many units in a round */

typedef void unit_function(void);

NOINLINE void slowed(unit_function *unit, unsigned units);
NOINLINE void others(unit_function *unit, unsigned units);

static uint64_t *memory;
static int zeros = -1;
static volatile uint64_t sink;

static void unit_loop(void)
{
    sink = turn(2000);
}

static void unit_memory(void)
{
    static uint64_t at;
    for (unsigned i = 0; i < 100; i++) {
        at = memory[(at * 6364136223846793005ULL + i) >> 42];
        sink = at;
    }
}

NOINLINE static uint64_t recurse(unsigned depth)
{
    const uint64_t value = depth == 0 ? turn(1000) : recurse(depth - 1) + 1;
    BARRIER();
    return value;
}

static void unit_calls(void)
{
    sink = recurse(60);
}

static void unit_kernel(void)
{
    char bytes[4096];
    for (unsigned i = 0; i < 4; i++) {
        if (read(zeros, bytes, sizeof(bytes)) < 0)
            abort();
    }
}

static const struct {
    const char *name;
    unit_function *unit;
    int bursts;
} kinds[] = {
    {"loop", unit_loop, 0},   {"memory", unit_memory, 0},
    {"calls", unit_calls, 0}, {"kernel", unit_kernel, 0},
    {"bursts", unit_loop, 1},
};

NOINLINE void slowed(unit_function *unit, unsigned units)
{
    for (unsigned i = 0; i < units; i++)
        unit();
    BARRIER();
}

NOINLINE void others(unit_function *unit, unsigned units)
{
    for (unsigned i = 0; i < units; i++)
        unit();
    BARRIER();
}

static void pause_shortly(void)
{
    const struct timespec time = {0, 3300000};
    nanosleep(&time, NULL);
}

int main(int count, char **words)
{
    const double more = argument(count, words, 2, 0) / 100;
    const double seconds = argument(count, words, 3, 1);
    double used[2] = {0, 0}, burst = 0;
    unsigned kind = 0;
    while (kind < 5 && (count < 2 || strcmp(kinds[kind].name, words[1]) != 0))
        kind++;
    if (kind == 5)
        return 2;
    memory = malloc(WORDS * sizeof(*memory));
    zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    if (memory == NULL || zeros < 0)
        return 1;
    for (uint64_t i = 0; i < WORDS; i++)
        memory[i] = i * 2654435761U;
    const unsigned units = (unsigned)(UNIT * (1 + more) + 0.5);
    while (used[0] + used[1] < seconds) {
        const double begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        slowed(kinds[kind].unit, units);
        const double middle = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        others(kinds[kind].unit, 2 * UNIT);
        const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
        used[0] += middle - begin;
        used[1] += end - middle;
        burst += end - begin;
        if (kinds[kind].bursts && burst >= 0.001) {
            burst = 0;
            pause_shortly();
        }
    }
    printf("slowed %.6f\nothers %.6f\n", used[0] * 1e3, used[1] * 1e3);
    return 0;
}
