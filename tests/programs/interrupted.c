/* SPDX-License-Identifier: MIT
 *
 * A read that an alarm is to interrupt, as siginterrupt(3) asks:
 *     interrupted
 * Prints `interrupted` or what else came of it.
 * Runs in: tests. */
#define _GNU_SOURCE
#include "common.h"

#include <errno.h>
#include <signal.h>

static int channel[2];

static void alarmed(int number)
{
    static volatile int times;
    (void)number;
    /* The second time ends a read that went on. */
    if (++times == 2)
        close(channel[1]);
    alarm(1);
}

int main(void)
{
    char byte;
    if (pipe(channel) != 0)
        die("pipe");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    siginterrupt(SIGALRM, 1);
#pragma GCC diagnostic pop
    signal(SIGALRM, alarmed);
    alarm(1);
    ssize_t got = read(channel[0], &byte, 1);
    if (got < 0 && errno == EINTR)
        puts("interrupted");
    else
        printf("read %zd\n", got);
    return 0;
}
