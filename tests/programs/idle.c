/* SPDX-License-Identifier: MIT
 *
 * Waits without using the CPU until it gets SIGTERM or its stdin ends, which
 * exits with status 0; prints `pid PID` first.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <poll.h>
#include <signal.h>

static void end(int number)
{
    (void)number;
    _exit(0);
}

int main(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    signal(SIGTERM, end);
    printf("pid %d\n", (int)getpid());
    fflush(stdout);
    for (;;) {
        char byte;
        if (poll(&input, 1, -1) > 0 && read(0, &byte, 1) <= 0)
            return 0;
    }
}
