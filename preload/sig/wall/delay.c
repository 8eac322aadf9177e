/* SPDX-License-Identifier: MIT
 *
 * How long the calling thread has waited for a CPU.
 * Runs in: handler. */
#include "delay.h"

#include "sig/os/own.h"
#include "sig/os/sys.h"

#define LINE_MOST 64

/* Three numbers: ns on a CPU, ns waiting for one, how often it got one
 * (Documentation/scheduler/sched-stats.rst). */

uint64_t jp_delay_sig(void)
{
    char line[LINE_MOST];
    const int fd = jp_self_open_sig(JP_SELF_SCHEDSTAT);
    if (fd < 0)
        return JP_DELAY_UNKNOWN;
    const long size = jp_sys_read_sig(fd, line, sizeof(line));
    long at = 0;
    uint64_t number = 0;
    jp_sys_close_sig(fd);
    while (at < size && line[at] != ' ')
        at++;
    const long first = ++at;
    for (; at < size && line[at] >= '0' && line[at] <= '9'; at++)
        number = number * 10 + (uint64_t)(line[at] - '0');
    return at > first && at < size ? number : JP_DELAY_UNKNOWN;
}
