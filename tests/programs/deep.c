/* SPDX-License-Identifier: MIT
 *
 * Spins at the bottom of a deep recursion:
 *     deep [DEPTH=100000] [CPU_SECONDS=0.5]
 * Prints `depth DEPTH`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

static double seconds;
NOINLINE int descend(int depth);

int descend(int depth)
{
    FRAME();
    if (depth > 0)
        return descend(depth - 1) + 1;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        turn(10000);
    return 0;
}

int main(int argc, char **argv)
{
    int depth = (int)argument(argc, argv, 1, 100000);
    seconds = argument(argc, argv, 2, 0.5);
    printf("depth %d\n", descend(depth));
    return 0;
}
