/* SPDX-License-Identifier: MIT
 *
 * Uses CPU time in its main thread, by its own clock:
 *     busy [CPU_SECONDS=1] [EXIT_STATUS=0] [exit|abort|_exit|kill]
 * Prints `pid PID` first and `cpu CPU_SECONDS` in the end.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <signal.h>
#include <string.h>

NOINLINE uint64_t spin(uint64_t turns);

uint64_t spin(uint64_t turns)
{
    return turn(turns);
}

int main(int argc, char **argv)
{
    double seconds = argument(argc, argv, 1, 1);
    int status = (int)argument(argc, argv, 2, 0);
    const char *how = argc > 3 ? argv[3] : "exit";
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    while (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) < seconds)
        spin(200000);
    printf("cpu %.6f\n", cpu_seconds(CLOCK_PROCESS_CPUTIME_ID));
    fflush(stdout);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "_exit") == 0)
        _exit(status);
    return status;
}
