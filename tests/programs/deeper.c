/* SPDX-License-Identifier: MIT
 *
 * Spins at the bottom of a recursion, which goes deeper each time, so that many
 * signals come where the stack has just grown:
 *     deeper [DEPTH=300] [CPU_SECONDS=2]
 * DEPTH: how deep at the end; a function takes about 300 bytes.  Prints `depth
 * DEPTH`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

NOINLINE int descend(int depth, double until);

int descend(int depth, double until)
{
    volatile char room[256];
    room[0] = 1;
    FRAME();
    if (depth > 0)
        return descend(depth - 1, until) + room[0];
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
        turn(1000);
    return 0;
}

int main(int argc, char **argv)
{
    const int depth = (int)argument(argc, argv, 1, 300);
    const double seconds = argument(argc, argv, 2, 2);
    const double begin = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
    int reached = 0;
    for (int i = 1; i <= depth; i++)
        reached = descend(i, begin + seconds * i / depth);
    printf("depth %d\n", reached);
    return 0;
}
