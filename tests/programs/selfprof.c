/* SPDX-License-Identifier: MIT
 *
 * Built with -pg, so that the C library profiles it into gmon.out: uses CPU
 * time, and prints how much in seconds:
 *     selfprof SECONDS
 * Runs in: tests. */
#include "common.h"

int main(int argc, char **argv)
{
    const double until = argument(argc, argv, 1, 1);
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < until)
        turn(20000);
    printf("%.3f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
