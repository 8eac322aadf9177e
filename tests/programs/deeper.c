/* SPDX-License-Identifier: MIT
 *
 * Computes at the bottom of a recursion, which goes deeper each time and calls
 * nothing there, so that many signals come where the stack has just grown:
 *     deeper [DEPTH=300] [TURNS=100000]
 * DEPTH: how deep at the end; a function takes about 300 bytes.  TURNS: of the
 * loop at each bottom.  Prints `depth DEPTH`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

NOINLINE int descend(int depth, uint64_t turns);

int descend(int depth, uint64_t turns)
{
    volatile char room[256];
    room[0] = 1;
    FRAME();
    if (depth > 0)
        return descend(depth - 1, turns) + room[0];
    turn(turns);
    return 0;
}

int main(int argc, char **argv)
{
    const int depth = (int)argument(argc, argv, 1, 300);
    const uint64_t turns = (uint64_t)argument(argc, argv, 2, 100000);
    int reached = 0;
    for (int i = 1; i <= depth; i++)
        reached = descend(i, turns);
    printf("depth %d\n", reached);
    return 0;
}
