/* SPDX-License-Identifier: MIT
 *
 *     lastfd [SECONDS=0.3]
 * Takes every descriptor that it may open, and burns SECONDS of CPU time.
 * Prints `cpu CPU_SECONDS`.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <fcntl.h>

int main(int argc, char **argv)
{
    const double seconds = argument(argc, argv, 1, 0.3);
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0)
        continue;
    while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < seconds)
        turn(100000);
    printf("cpu %.3f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
