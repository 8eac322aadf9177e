/* SPDX-License-Identifier: MIT
 *
 * Children made by vfork, which sleep on their parent's stack:
 *     vforked TIMES MILLISECONDS
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <sys/wait.h>
#include <time.h>

NOINLINE int wait_in_vfork(long milliseconds);

int wait_in_vfork(long milliseconds)
{
    const struct timespec span = {milliseconds / 1000,
                                  milliseconds % 1000 * 1000000};
    int status = 0;
    const pid_t pid = vfork();
    if (pid == 0) {
        nanosleep(&span, NULL);
        _exit(3);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    long times = argc > 1 ? atol(argv[1]) : 1;
    const long milliseconds = argc > 2 ? atol(argv[2]) : 1;
    int status = 3;
    while (times-- > 0 && status == 3)
        status = wait_in_vfork(milliseconds);
    return status == 3 ? 0 : 1;
}
