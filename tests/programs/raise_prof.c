/* SPDX-License-Identifier: MIT
 *
 * Raises the clock's signal from outside the timer, N times:
 *     raise_prof [N=100] [SIGNAL=27 (SIGPROF)]
 * Prints `errno kept` when errno was never changed by it.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <signal.h>

NOINLINE int raise_here(int count, int number);

int raise_here(int count, int number)
{
    int kept = 1;
    for (int i = 0; i < count; i++) {
        errno = 4242;
        if (raise(number) != 0)
            die("raise");
        kept &= errno == 4242;
    }
    return kept;
}

int main(int argc, char **argv)
{
    int count = (int)argument(argc, argv, 1, 100);
    int number = (int)argument(argc, argv, 2, SIGPROF);
    puts(raise_here(count, number) ? "errno kept" : "errno changed");
    return 0;
}
