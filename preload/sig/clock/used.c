/* SPDX-License-Identifier: MIT
 *
 * What the calling thread has used of the CPU.
 * Runs in: handler. */
#include "used.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "sig/os/sys.h"

static uint64_t ns_sig(struct timeval time)
{
    return (uint64_t)time.tv_sec * JP_NS + (uint64_t)time.tv_usec * 1000;
}

/* (User and system time add up to what the clock says, but for a microsecond:
 * cputime_adjust, kernel/sched/cputime.c in Linux.) */
uint64_t jp_used_cpu_sig(void)
{
    struct rusage usage;
    const uint64_t cpu = jp_sys_clock_sig(CLOCK_THREAD_CPUTIME_ID);
    if (cpu != 0)
        return cpu;
    if (jp_sys_sig(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0) != 0)
        return JP_USED_UNKNOWN;
    return ns_sig(usage.ru_utime) + ns_sig(usage.ru_stime);
}
